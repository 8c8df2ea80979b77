import type { Logger } from 'pino'
import { loadCustomerData } from './compose/customer-data.ts'
import { PORTS } from './compose/ports.ts'
import { openStorefrontUrl } from './compose/storefront-url.ts'
import type { Config } from './config.ts'
import { Database } from './db/database.ts'
import { type LoginRole, roleUrl } from './db/roles.ts'
import type { Metrics } from './http/metrics.ts'
import { type Clock, systemClock } from './kernel/clock.ts'
import { deriveKey } from './kernel/tokens.ts'
import { type ApiCalls, createApiCalls } from './modules/billing/api-calls.ts'
import { openCarriers } from './modules/carriers/service.ts'
import { createPdfProcesses } from './modules/documents/pdf-processes.ts'
import { createScanner, type Scanner } from './modules/health-claims/scanner.ts'
import type { House } from './modules/house.ts'
import { createImageProcesses } from './modules/media/image-processes.ts'
import { openPayments, type Payments } from './modules/payments/service.ts'
import { openBlobs } from './platform/blobs-open.ts'
import type { S3Options } from './platform/blobs-s3.ts'
import type { ChildBounds } from './platform/child-pool.ts'
import { ChildShares } from './platform/child-shares.ts'
import { closeAll } from './platform/close-all.ts'
import { KnownClocks } from './platform/known-clocks.ts'
import { createLiveCache } from './platform/live-cache.ts'
import { Notifier } from './platform/notifier.ts'
import { createLimits, type Limits, openLimitStore } from './platform/rate-limits.ts'
import type { LimitStore } from './platform/rate-limits-store.ts'
import type { SafeFetch } from './platform/safe-fetch.ts'
import { openSafeFetch } from './platform/safe-fetch-lazy.ts'
import type { Secrets } from './secrets.ts'

/** The open resources of a process, opened once and passed to the code that needs them. */
export interface Runtime extends House {
  secrets: Secrets
  /** Counts the calls of merchant keys. */
  apiCalls: ApiCalls
  close(): Promise<void>
}

/** The token by which the API recognises the storefront of the same process. */
export const ownToken = ({ key }: Pick<Runtime, 'key'>): string =>
  key('own storefront').toString('base64url')

interface RuntimeOptions {
  config: Config
  secrets: Secrets
  logger: Logger
  /** The URL of the database, embedded or not. */
  databaseUrl: string
  clock?: Clock
  /** For tests: how often the clocks of sandbox stores are read. */
  clockPollMs?: number
  metrics?: Metrics | null
  scanner?: Scanner
  safeFetch?: SafeFetch
  /** For tests, which run on busy machines. */
  limiterDeadlineMs?: number
  /**
   * For tests on busy machines: how long a request waits for a connection and for the share of its store, and the
   * clock of the live cache.
   */
  poolWaitMs?: number
  cacheClock?: Clock
  /** For tests: the bounds of an image process. */
  imageBounds?: Partial<ChildBounds>
  /** For tests: how long a time-out of the simulated gateway and carrier takes. */
  simulatedTimeoutMs?: number
}

/**
 * Opens the runtime. It makes no network connection yet: an unreachable database is noticed at the
 * first query.
 */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { config, secrets, logger, databaseUrl, clock = systemClock, metrics = null } = options
  const urls = loginUrls(config, databaseUrl, secrets.SECRET_KEY)
  const notifier = new Notifier({ url: config.DATABASE_DIRECT_URL ?? urls.fd_app, logger })
  const clocks = new KnownClocks({ logger, pollMs: options.clockPollMs })
  const { database, operatorDatabase, workerDatabase } = openDatabases(options, urls, {
    notifier,
    clocks,
  })
  const limitStore = await openLimitStore({
    databaseUrl: urls.fd_app,
    redisUrl: config.REDIS_URL,
    onError: (error) => logger.warn({ err: error }, 'the connection to the limiter store was lost'),
    ...(options.limiterDeadlineMs && { deadlineMs: options.limiterDeadlineMs }),
  })
  const cache = createLiveCache({
    listenUrl: config.DATABASE_DIRECT_URL ?? urls.fd_app,
    database,
    maxBytes: config.LIVE_CACHE_MB * 1_024 * 1_024,
    logger,
    ...(options.cacheClock && { clock: options.cacheClock }),
  })
  const scanner = options.scanner ?? openScanner(database)
  const key = (purpose: string) => deriveKey(secrets.SECRET_KEY, purpose)
  const payments = openGateways(options, database, key)
  const safeFetch =
    options.safeFetch ??
    openSafeFetch({
      testTargets: config.WEBHOOK_TEST_TARGETS,
      ownAddresses: config.OWN_ADDRESSES,
      resolver: config.DNS_SERVERS.length > 0 ? { servers: config.DNS_SERVERS } : {},
    })
  const blobs = openBlobs({ dataDir: config.DATA_DIR, s3: s3Options(config) })
  // These may query a database while they close, so the pools are closed after them.
  const images = createImageProcesses(options.imageBounds)
  const othersAreAtWork = (store: string) => database.isShared(store)
  const pdfs = createPdfProcesses({ shares: new ChildShares({ othersAreAtWork }) })
  const apiCalls = createApiCalls({ db: database.directory, logger })
  const carriers = openCarriers({
    database,
    pdfs,
    onFault: (error) => logger.error({ err: error }, 'a carrier failed unexpectedly'),
    ...(options.simulatedTimeoutMs !== undefined && { silenceMs: options.simulatedTimeoutMs }),
  })
  const publicUrl = () => config.PUBLIC_URL ?? `http://localhost:${config.PORT}`
  const users = [scanner, payments, safeFetch, notifier, blobs, images, pdfs, apiCalls]
  const pools = [database, operatorDatabase, workerDatabase, limitStore]
  return {
    config,
    secrets,
    logger,
    clock,
    clocks,
    cache,
    scanner,
    payments,
    carriers,
    safeFetch,
    notifier,
    blobs,
    images,
    pdfs,
    apiCalls,
    database,
    operatorDatabase,
    workerDatabase,
    limits: openLimits(config, limitStore, clock),
    metrics,
    key,
    publicUrl,
    storefrontUrl: openStorefrontUrl(config, publicUrl),
    ports: PORTS,
    loadCustomerData,
    close: () => {
      clocks.stop()
      return closeAll([[() => cache.stop(), ...closersOf(users)], closersOf(pools)])
    },
  }
}

const openScanner = (database: Database): Scanner =>
  createScanner({
    onScanned: (store, ms) => database.tenantForOwnWork(store).addUse(ms),
    pace: (store) => database.tenantForOwnWork(store).pace(),
  })

function openDatabases(
  { config, logger, clock = systemClock, poolWaitMs }: RuntimeOptions,
  urls: Record<LoginRole, string>,
  { notifier, clocks }: { notifier: Notifier; clocks: KnownClocks },
) {
  const notify = (topic: string) => notifier.notify(topic)
  const max = config.DATABASE_POOL_MAX
  const common = {
    onError: (error: Error, pool: string) =>
      logger.warn({ err: error, pool }, 'a database connection was lost'),
    clock,
    clocks,
    ...(poolWaitMs && { connectTimeoutMs: poolWaitMs, shareWaitMs: poolWaitMs }),
  }
  // A little longer than the statement timeout of this role, see roles.ts.
  const limits = { max, answerTimeoutMs: 12_000, sharesByStore: true }
  const app = { url: urls.fd_app, name: 'app', ...limits, notify }
  const operator = { url: urls.fd_operator, name: 'operator', max: 2 }
  const worker = { url: urls.fd_worker, name: 'worker', max, notify }
  return {
    database: new Database({ ...common, ...app }),
    operatorDatabase: new Database({ ...common, ...operator }),
    workerDatabase: new Database({ ...common, ...worker }),
  }
}

function openGateways(
  { config, logger, simulatedTimeoutMs }: RuntimeOptions,
  database: Database,
  key: Runtime['key'],
): Payments {
  return openPayments({
    database,
    key,
    gateway: config.PAYMENT_GATEWAY,
    settings: config,
    onFault: (error) => logger.error({ err: error }, 'a payment gateway failed unexpectedly'),
    onNoAnswer: (call) =>
      logger.warn({ ...call, kind: 'upstream' }, 'a payment gateway gave no answer'),
    onAccountProblem: (call) =>
      logger.error({ ...call, kind: 'upstream' }, 'a payment gateway refuses the account'),
    ...(simulatedTimeoutMs !== undefined && { timeoutMs: simulatedTimeoutMs }),
  })
}

const closersOf = (parts: readonly { close(): Promise<void> }[]) =>
  parts.map((part) => () => part.close())

function s3Options(config: Config): S3Options | undefined {
  const { S3_BUCKET, S3_ENDPOINT, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = config
  if (S3_BUCKET === undefined) return undefined
  const hasKeys = AWS_ACCESS_KEY_ID !== undefined && AWS_SECRET_ACCESS_KEY !== undefined
  return {
    bucket: S3_BUCKET,
    region: AWS_REGION,
    ...(S3_ENDPOINT === undefined ? {} : { endpoint: S3_ENDPOINT }),
    ...(hasKeys && {
      credentials: { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY },
    }),
  }
}

function openLimits(config: Config, store: LimitStore, clock: Clock): Limits {
  const perMinute = {
    my: config.RATE_LIMIT_MY_PER_MINUTE,
    failed: config.RATE_LIMIT_FAILED_PER_MINUTE,
  }
  return createLimits({ store, clock, perMinute })
}

function loginUrls(config: Config, url: string, secretKey: string): Record<LoginRole, string> {
  return {
    fd_app: config.DATABASE_APP_URL ?? roleUrl(url, 'fd_app', secretKey),
    fd_worker: config.DATABASE_WORKER_URL ?? roleUrl(url, 'fd_worker', secretKey),
    fd_operator: config.DATABASE_OPERATOR_URL ?? roleUrl(url, 'fd_operator', secretKey),
  }
}
