import { OtherKeyError, startEmbedded } from '@fairdock/embedded-postgres'
import { hasCluster } from '@fairdock/embedded-postgres/home'
import type { Logger } from 'pino'
import { type Config, ConfigError, readConfig, readListenKey } from './config.ts'
import { isShutOut } from './db/constraints.ts'
import { migrate, readMigrations } from './db/migrate.ts'
import { RolesMissingError } from './db/roles.ts'
import { type DoctorOptions, printDoctor, runDoctor } from './doctor.ts'
import { describeAll, describeRole, findHelp, isRole, ROLES, type Role } from './help.ts'
import { deriveKey } from './kernel/tokens.ts'
import { closeAll } from './platform/close-all.ts'
import { createLogger } from './platform/log.ts'
import { findSecrets, loadSecrets } from './secrets.ts'
import type { Process } from './serve.ts'
import { serveMetrics } from './serve-metrics.ts'
import { TakenPortError } from './taken-port.ts'

/** How long a stop may take. A supervisor that kills after 15 s then never needs to. */
const STOP_MS = 14_000

/**
 * How many seconds a ledger may wait for its verification before it counts as late. If it waits longer, no worker
 * runs.
 */
const LATE_SECONDS = 900

/**
 * Runs the role that the arguments name. Each role loads its own part of the program: loading all of it takes a
 * second, for which a refused setting or a request for help need not wait.
 */
async function main(): Promise<void> {
  const help = findHelp(process.argv.slice(2))
  if (help !== null) return printHelp(help)
  const role = readRole(process.argv[2] ?? '')
  if (role === 'listen') return listenToFeed()
  if (role === 'storefront') return renderAlone()
  const config = readConfig()
  const secrets = role === 'doctor' ? await findSecrets(config) : await loadSecrets(config)
  if (secrets === null || (role === 'doctor' && !(await hasDatabase(config)))) {
    return examineRuins(config, { hasSecrets: secrets !== null })
  }
  const logger = createLogger(config.LOG_LEVEL)
  const self: Process = { config, secrets, logger, closers: [], stopping: false }
  endOnFault(logger)
  endOnSignal(self)
  try {
    await run(self, role)
  } catch (error) {
    // During a stop, parts are closed while they are used: an error then is not a fault.
    if (self.stopping) return
    self.stopping = true
    await close(self)
    throw error
  }
}

async function listenToFeed(): Promise<void> {
  const { listen, ListenError, readListenOptions } = await import('./listen.ts')
  const stopping = new AbortController()
  onStop(() => stopping.abort())
  // The program that reads the output has ended, as `head` does.
  process.stdout.on('error', () => stopping.abort())
  try {
    const options = readListenOptions(process.argv.slice(3), readListenKey())
    if (options !== null) await listen({ ...options, signal: stopping.signal })
  } catch (error) {
    if (!(error instanceof ListenError)) throw error
    process.stderr.write(`fairdock: ${error.message}\n`)
    process.exitCode = 1
  }
}

/**
 * Runs the storefront alone. It needs no database, only the platform's address and the storefront
 * token.
 */
async function renderAlone(): Promise<void> {
  const config = readConfig(undefined, true)
  const token = config.STOREFRONT_TOKEN ?? (await loadSecrets(config)).STOREFRONT_TOKEN
  const logger = createLogger(config.LOG_LEVEL)
  const { serveStorefront } = await import('./storefront.ts')
  const closers: Process['closers'] = []
  const metrics = await serveMetrics({ config, closers })
  const { url, close } = await serveStorefront({
    config,
    token,
    logger,
    onPage: metrics?.countPage,
  })
  closers.push(close)
  endOnFault(logger)
  onStop(() => void closeAll([closers]))
  process.stdout.write(`\n  The storefront is ready at ${url}\n\n`)
}

/** The roles that run the program itself. */
const SERVING: readonly Role[] = ['serve', 'api', 'worker', 'seed']

async function run(self: Process, role: Role): Promise<void> {
  // Loaded while the database starts: either takes a second, and they are not the same process.
  const loading = SERVING.includes(role) ? import('./serve.ts') : null
  const url = await findDatabase(self).catch((error) => {
    if (role === 'doctor' && error instanceof OtherKeyError) return null
    throw error
  })
  if (url === null) {
    await examineRuins(self.config, { hasOtherKey: true })
    return close(self)
  }
  if (role === 'migrate') await migrateOnce(self, url)
  else if (role === 'doctor') await examine(self, url)
  else if (role === 'verify-ledger') await verifyLedger(self, url)
  else if (role === 'analytics') await countAgain(self, url)
  else if (loading !== null) {
    const { seedOnce, serve } = await loading
    if (role !== 'seed') return serve(self, role, url)
    await seedOnce(self, url)
  }
  await close(self)
}

function readRole(name: string): Role {
  if (isRole(name)) return name
  throw new ConfigError([`the role must be one of ${Object.keys(ROLES).join(', ')}; see --help`])
}

async function migrateOnce({ secrets }: Process, url: string): Promise<void> {
  const applied = await migrate({ url, secretKey: secrets.SECRET_KEY })
  const { length: total } = await readMigrations()
  const said =
    applied.length === 0
      ? `The database is up to date: all ${total} migrations are applied.`
      : `Applied ${applied.length} of ${total} migrations. The database is up to date.`
  process.stdout.write(`${said}\n`)
}

async function printHelp(about: 'all' | Role): Promise<void> {
  if (about === 'listen')
    return void process.stdout.write(`${(await import('./listen.ts')).USAGE}\n`)
  process.stdout.write(about === 'all' ? describeAll() : describeRole(about))
}

/** Returns the URL of the database: DATABASE_URL, or the embedded server under DATA_DIR. */
async function findDatabase(self: Process): Promise<string> {
  const { config, secrets, closers } = self
  if (config.DATABASE_URL !== undefined) return config.DATABASE_URL
  const password = deriveKey(secrets.SECRET_KEY, 'embedded database').toString('hex')
  const starting = startEmbedded({ dataDir: config.DATA_DIR, password })
  // The closer is added before the server runs: a stop in the middle of a start must not leave the server behind.
  closers.push(() =>
    starting.then(
      (embedded) => embedded.stop(),
      () => {},
    ),
  )
  const { url } = await starting
  if (self.stopping) throw new Error('stopped before the database was ready')
  return url
}

async function examine({ config, secrets, logger, closers }: Process, databaseUrl: string) {
  const { openRuntime } = await import('./runtime.ts')
  const { summarizeVerification } = await import('./modules/ledger/verify-whole.ts')
  const runtime = await openRuntime({ config, secrets, logger, databaseUrl })
  closers.push(() => runtime.close())
  const pingLimiter = () => runtime.limits.ping()
  const summarizeLedgers = () =>
    summarizeVerification(
      runtime.operatorDatabase.allStores,
      LATE_SECONDS,
      config.HISTORY_CHECK_DAYS,
    )
  const dataDir = config.DATA_DIR
  const options = {
    url: databaseUrl,
    dataDir,
    address: config,
    mail: config,
    secretKey: secrets.SECRET_KEY,
    pingLimiter,
    summarizeLedgers,
  }
  process.exitCode = printDoctor(await runDoctor(options))
}

async function verifyLedger({ config, secrets, logger, closers }: Process, databaseUrl: string) {
  const { openRuntime } = await import('./runtime.ts')
  const { readVerifyOptions, verifyLedgers } = await import('./verify-ledger.ts')
  const runtime = await openRuntime({ config, secrets, logger, databaseUrl })
  closers.push(() => runtime.close())
  process.exitCode = await verifyLedgers(runtime, readVerifyOptions(process.argv.slice(3)))
}

async function countAgain({ config, secrets, logger, closers }: Process, databaseUrl: string) {
  const [verb, tenant = null] = process.argv.slice(3)
  if (verb !== 'rebuild') throw new ConfigError(['the verb must be rebuild; see analytics --help'])
  const { openRuntime } = await import('./runtime.ts')
  const { rebuildAnalytics } = await import('./rebuild-analytics.ts')
  const runtime = await openRuntime({ config, secrets, logger, databaseUrl })
  closers.push(() => runtime.close())
  process.exitCode = await rebuildAnalytics(runtime, tenant)
}

const hasDatabase = async ({ DATABASE_URL, DATA_DIR }: Config): Promise<boolean> =>
  DATABASE_URL !== undefined || (await hasCluster(DATA_DIR).catch(() => false))

/**
 * Examines an incomplete installation. A start would create the missing part; the doctor only
 * reports it.
 */
async function examineRuins(
  config: Config,
  known: Pick<DoctorOptions, 'hasSecrets' | 'hasOtherKey'>,
): Promise<void> {
  const { DATABASE_URL: url = null, DATA_DIR: dataDir } = config
  const options = { url, dataDir, address: config, mail: config, ...known }
  process.exitCode = printDoctor(await runDoctor(options))
}

async function close(self: Process): Promise<void> {
  setTimeout(() => process.exit(1), STOP_MS).unref()
  // The parts are closed one by one: a part that is still being opened may add its own closer meanwhile.
  const closers = self.closers.reverse().values()
  await closeAll(closers.map((closer) => [closer]))
}

/** Ends the process after an unexpected error: after it, nothing in memory can be trusted. */
function endOnFault(logger: Logger): void {
  const end = (error: unknown) => {
    logger.fatal({ err: error }, 'an unexpected error ends the process')
    process.exit(1)
  }
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
}

function endOnSignal(self: Process): void {
  onStop(async (signal) => {
    if (self.stopping) return
    self.stopping = true
    self.logger.info({ signal }, 'stopping')
    await close(self)
    process.exit(0)
  })
}

/**
 * Calls `stop` at each signal to end, SIGHUP of a closed terminal among them, and when the process that
 * started this one with a channel (`scripts/run.mjs`, or the server that seeds) has died.
 */
function onStop(stop: (signal: string) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => stop(signal))
  process.once('disconnect', () => stop('disconnect'))
  // A channel with a listener would keep a process running that has done its work.
  process.channel?.unref()
}

/** Prints a fault of the configuration as one clear text, without a stack. */
function refuse(fault: unknown): void {
  // A host with several addresses fails once for each address.
  const error = fault instanceof AggregateError ? fault.errors[0] : fault
  process.stderr.write(`fairdock: ${sayFault(error)}\n`)
  process.exit(1)
}

function sayFault(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  if (isShutOut(error))
    return `${error.message}. Check that PostgreSQL runs and that DATABASE_URL is correct`
  const { code } = error as NodeJS.ErrnoException
  const known =
    error instanceof ConfigError ||
    error instanceof RolesMissingError ||
    error instanceof OtherKeyError ||
    error instanceof TakenPortError ||
    ['EADDRNOTAVAIL', 'EACCES', 'EROFS', 'ENOSPC'].includes(code ?? '')
  return (known ? error.message : error.stack) ?? error.message
}

main().catch(refuse)
