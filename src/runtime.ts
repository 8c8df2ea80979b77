import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { type ClockOffsets, Database } from './db/database.ts'
import { type LoginRole, roleUrl } from './db/roles.ts'
import type { Metrics } from './http/metrics.ts'
import { type Clock, systemClock } from './kernel/clock.ts'
import { deriveKey } from './kernel/tokens.ts'
import { createScanner, type Scanner } from './modules/claims/scanner.ts'
import { openPayments, type Payments } from './modules/payments/service.ts'
import type { BlobStore } from './platform/blobs.ts'
import { openBlobs } from './platform/blobs-open.ts'
import type { S3Options } from './platform/blobs-s3.ts'
import { closeAll } from './platform/close-all.ts'
import { createLimits, type Limits, openLimitStore } from './platform/limits.ts'
import type { LimitStore } from './platform/limits-store.ts'
import { createLiveCache, type LiveCache } from './platform/live-cache.ts'
import type { SafeFetch } from './platform/safe-fetch.ts'
import { openSafeFetch } from './platform/safe-fetch-lazy.ts'
import { createWake, type Wake } from './platform/wake.ts'
import type { Secrets } from './secrets.ts'

/** What a process works with, opened once and handed to whoever needs it. */
export interface Runtime {
  config: Config
  secrets: Secrets
  logger: Logger
  clock: Clock
  /** Logged in as the API. */
  database: Database
  /** Logged in as the operator plane: reads over all tenants. */
  operatorDatabase: Database
  /** Logged in as the worker. */
  workerDatabase: Database
  limits: Limits
  /** Finished public answers. Not started: only a process that serves listens for changes. */
  cache: LiveCache
  scanner: Scanner
  /** Each store's gateway. */
  payments: Payments
  /** The only way to an address that a tenant chose. */
  safeFetch: SafeFetch
  /** Tells loops, here and in other processes, that there is work. */
  wake: Wake
  /** Where media is kept. Opened when it is first used. */
  blobs: BlobStore
  /** Null where nobody asks for them. */
  metrics: Metrics | null
  /** A key of its own for each purpose. */
  key(purpose: string): Buffer
  close(): Promise<void>
}

/** What the storefront in the same process shows the API, which knows it by that. */
export const ownToken = ({ key }: Pick<Runtime, 'key'>): string =>
  key('own storefront').toString('base64url')

interface RuntimeOptions {
  config: Config
  secrets: Secrets
  logger: Logger
  /** Where the database is, embedded or not. */
  databaseUrl: string
  clock?: Clock
  /** For tests: no store can move its clock yet. */
  clockOffsets?: ClockOffsets
  metrics?: Metrics | null
  scanner?: Scanner
  safeFetch?: SafeFetch
  /** For tests, which run on machines that are busy with other tests. */
  limiterDeadlineMs?: number
  /** For the same tests: how long somebody waits for a connection, and by which clock trust ends. */
  poolWaitMs?: number
  cacheClock?: Clock
  /** For tests: how long a time-out of the simulated gateway takes. */
  simulatedTimeoutMs?: number
}

/** Opens nothing over the network by itself: a database that is down is noticed when it is asked. */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { config, secrets, logger, databaseUrl, clock = systemClock, metrics = null } = options
  const onError = (error: Error) => logger.warn({ err: error }, 'a database connection was lost')
  const urls = loginUrls(config, databaseUrl, secrets.SECRET_KEY)
  const max = config.DATABASE_POOL_MAX
  const wake = createWake({ url: config.DATABASE_DIRECT_URL ?? urls.fd_app, logger })
  const onWake = wake.tell
  // A little longer than the statements of this role may take, see roles.ts.
  const answerTimeoutMs = 12_000
  const common = {
    onError,
    clock,
    ...(options.clockOffsets && { clockOffsets: options.clockOffsets }),
    ...(options.poolWaitMs && { connectTimeoutMs: options.poolWaitMs }),
  }
  const database = new Database({
    ...common,
    url: urls.fd_app,
    name: 'app',
    max,
    answerTimeoutMs,
    onWake,
  })
  const operatorDatabase = new Database({
    ...common,
    url: urls.fd_operator,
    name: 'operator',
    max: 2,
  })
  const workerDatabase = new Database({
    ...common,
    url: urls.fd_worker,
    name: 'worker',
    max,
    onWake,
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
  const scanner = options.scanner ?? createScanner()
  const key = (purpose: string) => deriveKey(secrets.SECRET_KEY, purpose)
  const payments = openPayments({
    database,
    key,
    gateway: config.PAYMENT_GATEWAY,
    nmi: { url: config.NMI_URL, securityKey: config.NMI_SECURITY_KEY ?? null },
    onFault: (error) => logger.error({ err: error }, 'a payment gateway failed unexpectedly'),
    onNoAnswer: (call) =>
      logger.warn({ ...call, kind: 'upstream' }, 'a payment gateway gave no answer'),
    onAccountProblem: (call) =>
      logger.error({ ...call, kind: 'upstream' }, 'a payment gateway refuses the account'),
    ...(options.simulatedTimeoutMs !== undefined && { timeoutMs: options.simulatedTimeoutMs }),
  })
  const safeFetch =
    options.safeFetch ??
    openSafeFetch({
      testTargets: config.WEBHOOK_TEST_TARGETS,
      ownAddresses: config.OWN_ADDRESSES,
      resolver: config.DNS_SERVERS.length > 0 ? { servers: config.DNS_SERVERS } : {},
    })
  const blobs = openBlobs({ dataDir: config.DATA_DIR, s3: s3Options(config) })
  // These may ask a database while they end; the pools are closed after them.
  const users = [scanner, payments, safeFetch, wake, blobs]
  const pools = [database, operatorDatabase, workerDatabase, limitStore]
  return {
    config,
    secrets,
    logger,
    clock,
    cache,
    scanner,
    payments,
    safeFetch,
    wake,
    blobs,
    database,
    operatorDatabase,
    workerDatabase,
    limits: openLimits(config, limitStore, clock),
    metrics,
    key,
    close: () => closeAll([[() => cache.stop(), ...closersOf(users)], closersOf(pools)]),
  }
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
