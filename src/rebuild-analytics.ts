import { isTenantRef } from './kernel/schema.ts'
import { listCounted, rebuild, stepOf } from './modules/analytics/jobs.ts'
import type { Runtime } from './runtime.ts'

/**
 * Counts the figures of a store again from its first journal, or those of all stores, and waits until they are
 * counted. Meanwhile the old figures are read. Returns the exit code: 1 when there is no such store.
 */
export async function rebuildAnalytics(
  { operatorDatabase, workerDatabase }: Pick<Runtime, 'operatorDatabase' | 'workerDatabase'>,
  tenant: string | null,
  write: (line: string) => void = (line) => void process.stdout.write(line),
): Promise<0 | 1> {
  const all = await listCounted(operatorDatabase.allStores)
  const stores = all.filter(({ tenant_ref }) => (tenant ?? tenant_ref) === tenant_ref)
  if (stores.length === 0) {
    const isMissing = tenant !== null && isTenantRef(tenant)
    write(isMissing ? `the store ${tenant} has nothing to count\n` : 'there is nothing to count\n')
    return tenant === null ? 0 : 1
  }
  for (const { tenant_ref } of stores) {
    const db = workerDatabase.tenant(tenant_ref)
    await rebuild(db)
    while (await stepOf(db));
    write(`ok    ${tenant_ref}\n`)
  }
  return 0
}
