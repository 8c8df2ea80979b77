import { accept, listStoresWithLinks, verifyWhole } from './modules/ledger/verify-whole.ts'
import type { Runtime } from './runtime.ts'

interface VerifyLedgerOptions {
  /** The store; null for all stores. */
  tenant: string | null
  /** Whether to record a ledger that verifies as verified, even if the earlier record was untrue. */
  accept: boolean
}

/** Reads the arguments of the role `verify-ledger`: a store, and `--accept`. */
export const readVerifyOptions = (args: readonly string[]): VerifyLedgerOptions => ({
  tenant: args.find((each) => !each.startsWith('--')) ?? null,
  accept: args.includes('--accept'),
})

/**
 * Verifies the ledgers of all stores, or of one, from the first journal to the last, and prints a line for each.
 * Returns the exit code: 1 when one does not verify.
 */
export async function verifyLedgers(
  {
    operatorDatabase,
    workerDatabase,
    key,
  }: Pick<Runtime, 'operatorDatabase' | 'workerDatabase' | 'key'>,
  options: VerifyLedgerOptions,
  write: (line: string) => void = (line) => void process.stdout.write(line),
): Promise<0 | 1> {
  const signing = key('ledger verification')
  const all = await listStoresWithLinks(operatorDatabase.allStores)
  const stores = all.filter(({ tenant_ref }) => (options.tenant ?? tenant_ref) === tenant_ref)
  if (stores.length === 0) write('there is no ledger to verify\n')
  let exitCode: 0 | 1 = 0
  for (const { tenant_ref } of stores) {
    const db = workerDatabase.tenant(tenant_ref)
    const { position, fault, untrue } = await verifyWhole(db, signing)
    const accepts = options.accept && fault === null
    if (accepts) await accept(workerDatabase, tenant_ref, signing, position)
    const wrong = fault ?? (accepts ? null : untrue)
    if (wrong !== null) exitCode = 1
    const found = wrong === null ? 'verified' : `${wrong.kind} at ${wrong.at}`
    write(`${wrong === null ? 'ok  ' : 'FAIL'}  ${tenant_ref}  ${position.sequence}  ${found}\n`)
  }
  return exitCode
}
