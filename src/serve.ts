import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { buildApp } from './compose/app.ts'
import { startWorker } from './compose/worker.ts'
import type { Config } from './config.ts'
import { migrate } from './db/migrate.ts'
import { readQueueFacts } from './db/queue-facts.ts'
import { isStocked, listDemoStores, openDemo } from './demo-start.ts'
import type { Role } from './help.ts'
import type { App } from './http/route.ts'
import { answerCertificates, mayHaveCertificate } from './modules/domains/certificates.ts'
import { releaseMemory } from './platform/memory.ts'
import { openRuntime, ownToken, type Runtime } from './runtime.ts'
import type { Secrets } from './secrets.ts'
import { serveMetrics } from './serve-metrics.ts'
import { listening } from './taken-port.ts'
import { printWelcome } from './welcome.ts'

/** The longest wait between two attempts to reach the database. */
const WAIT_MAX_MS = 3_000

export interface Process {
  config: Config
  secrets: Secrets
  logger: Logger
  /** The functions that close the parts, called in reverse order of opening. */
  closers: (() => Promise<unknown>)[]
  stopping: boolean
}

/** Runs the API, the worker, or both, until a signal ends the process. */
export async function serve(self: Process, role: Role, databaseUrl: string): Promise<void> {
  const { config, secrets, logger, closers } = self
  const metrics = await serveMetrics(self)
  const runtime = await openRuntime({ config, secrets, logger, databaseUrl, metrics })
  closers.push(() => runtime.close())
  metrics?.watchQueues(() => readQueueFacts(runtime.operatorDatabase.allStores))
  metrics?.answerCertificates(
    answerCertificates((hostname) => mayHaveCertificate(runtime.database, hostname)),
  )
  const migrated = bringUp(self, databaseUrl)
  // Awaited below. It may fail before that, while the routes are still being set up.
  migrated.catch(() => {})
  const app = role === 'worker' ? null : await openApp(self, runtime, role)
  await releaseMemory()
  const url =
    app === null
      ? null
      : await listening('PORT', app.listen({ host: config.HOST, port: config.PORT }))
  await migrated
  await runtime.clocks.start(runtime.database.due)
  if (role !== 'api') {
    const worker = await startWorker(runtime)
    closers.push(() => worker.stop())
    if (url === null) process.stdout.write(`The worker is running, with ${worker.loops} loops.\n`)
  }
  const wantsDemo = role === 'serve' && !config.production
  const demo = wantsDemo ? await onceReachable(self, () => openDemo(self, runtime)) : null
  // The last text that a start prints, and not before everything that it names answers.
  if (url !== null && !self.stopping) printWelcome({ url, config, demo })
}

/** Fills the demo stores of a database that has none. */
export async function seedOnce(self: Process, databaseUrl: string): Promise<void> {
  const { config, secrets, logger, closers } = self
  const runtime = await openRuntime({ config, secrets, logger, databaseUrl })
  closers.push(() => runtime.close())
  await bringUp(self, databaseUrl)
  await seed(runtime)
}

async function seed(runtime: Runtime): Promise<void> {
  const [{ seedDemo }, { stockDemo }] = await Promise.all([
    import('./demo.ts'),
    import('./demo-stock.ts'),
  ])
  const before = await listDemoStores(runtime)
  const wasStocked = await isStocked(runtime)
  const demo = await seedDemo(runtime)
  const isFilling = demo !== null && runtime.config.NODE_ENV === 'development'
  if (isFilling) await stockDemo(runtime)
  const created = (await listDemoStores(runtime)).filter((store) => !before.includes(store))
  const said = [
    ...(demo === null ? ['There are stores already, so no demo store was created.'] : []),
    ...(created.length > 0 ? [`Created the demo stores: ${created.join(', ')}.`] : []),
    ...(isFilling && !wasStocked ? ['The demo stores have their products.'] : []),
  ]
  process.stdout.write(`${said.join('\n') || 'The demo stores exist already.'}\n`)
}

async function openApp(self: Process, runtime: Runtime, role: Role): Promise<App> {
  const { config, closers, logger } = self
  const app = await buildApp(runtime, { hasStorefront: role === 'serve' })
  if (role === 'serve') {
    const { addStorefront } = await import('./storefront.ts')
    const token = self.secrets.STOREFRONT_TOKEN
    const onPage = runtime.metrics?.countPage
    const options = { config, token, platformToken: ownToken(runtime), logger, onPage }
    const storefront = await addStorefront(app, options)
    closers.push(() => storefront.close())
  }
  closers.push(() => app.close())
  await app.ready()
  runtime.cache.start()
  await runtime.clocks.start(runtime.database.due)
  return app
}

/**
 * Migrates the database, while the process sets up its routes and then listens and answers 503: so it need not end
 * when the database starts later.
 */
async function bringUp(self: Process, url: string): Promise<void> {
  const { config, secrets, logger } = self
  if (!config.MIGRATE_ON_START) return
  const done = await onceReachable(self, () => migrate({ url, secretKey: secrets.SECRET_KEY }))
  if (done.length > 0) logger.info({ migrations: done.length }, 'the database was migrated')
}

async function onceReachable<T>(self: Process, work: () => Promise<T>): Promise<T> {
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, WAIT_MAX_MS)) {
    try {
      return await work()
    } catch (error) {
      if (self.stopping || !isUnreachable(error)) throw error
      self.logger.warn({ err: error }, 'the database cannot be reached yet; waiting for it')
      await sleep(waitMs)
    }
  }
}

/** Whether the error, or its cause, is a connection error and not one of a statement. */
function isUnreachable(error: unknown): boolean {
  const { code = '', message = '', cause } = Object(error) as NodeJS.ErrnoException
  if (/^(E[A-Z]+|08...|57P0.|53...)$/.test(code) || /timeout|terminated/i.test(message)) return true
  return cause !== undefined && isUnreachable(cause)
}
