import { Type } from 'typebox'
import { isMigrated, type Migration, readMigrations } from './db/migrate.ts'
import { ApiError } from './errors.ts'
import type { Routes } from './http/route.ts'
import type { Runtime } from './runtime.ts'

const Ok = Type.Object({ status: Type.String() })

/**
 * The migrations of the program. A process reads them once: files that are added while it runs are not part of the
 * program.
 */
let known: Promise<Migration[]> | undefined

/**
 * The routes `/healthz`, which answers while the process runs, and `/readyz`, which answers whether the services that
 * it depends on respond too.
 */
export const healthRoutes =
  (runtime: Runtime): Routes =>
  async (app) => {
    known ??= readMigrations()
    const migrations = await known
    let running: Promise<string[]> | null = null
    // Callers at the same time share one check: any caller may ask, and each check is three statements.
    const check = () => {
      running ??= listFailing(runtime, migrations).finally(() => {
        running = null
      })
      return running
    }

    app.get(
      '/healthz',
      {
        schema: {
          operationId: 'readHealth',
          tags: ['health'],
          summary: 'Check that the process is up.',
          response: { 200: Ok },
        },
      },
      async () => ({ status: 'ok' }),
    )

    app.get(
      '/readyz',
      {
        schema: {
          operationId: 'readReadiness',
          tags: ['health'],
          summary: 'Check that the process can serve requests. A 503 names the part that fails.',
          response: { 200: Ok },
        },
      },
      async () => {
        const failing = await check()
        if (failing.length > 0) {
          throw new ApiError('service_unavailable', { body: { failing }, kind: 'outage' })
        }
        return { status: 'ok' }
      },
    )
  }

/** How long a check may take. A slower one has failed: the caller needs an answer now. */
const CHECK_MS = 2_000

async function listFailing(
  { database, limits }: Runtime,
  migrations: Migration[],
): Promise<string[]> {
  const checks: Record<string, () => Promise<unknown>> = {
    database: () => database.ping(),
    migrations: async () => {
      if (!(await isMigrated(database.server, migrations)))
        throw new Error('migrations are pending; run the migrate role')
    },
    limiter: () => limits.ping(),
  }
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ((await passes(check)) ? [] : [name])),
  )
  return results.flat()
}

async function passes(check: () => Promise<unknown>): Promise<boolean> {
  const late = new Promise<false>((resolve) => setTimeout(resolve, CHECK_MS, false).unref())
  const result = check().then(
    () => true,
    () => false,
  )
  return Promise.race([result, late])
}
