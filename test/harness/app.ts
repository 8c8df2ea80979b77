import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { Logger } from 'pino'
import { type Dispatcher, request } from 'undici'
import { buildApp } from '../../src/compose/app.ts'
import { readConfig } from '../../src/config.ts'
import type { TenantDb } from '../../src/db/database.ts'
import type { App } from '../../src/http/route.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { SCOPES, type Scope } from '../../src/kernel/scopes.ts'
import * as credentials from '../../src/modules/credentials/service.ts'
import type { Scanner } from '../../src/modules/health-claims/scanner.ts'
import * as stores from '../../src/modules/stores/service.ts'
import { whenEmitted } from '../../src/modules/webhooks/define-event.ts'
import { SYSTEM } from '../../src/platform/audit.ts'
import type { ChildBounds } from '../../src/platform/child-pool.ts'
import { createLogger } from '../../src/platform/log.ts'
import type { SafeFetch } from '../../src/platform/safe-fetch.ts'
import { openRuntime, type Runtime } from '../../src/runtime.ts'
import { checkEvent } from './check-event.ts'
import { COMPILED_SCHEMAS } from './compiled-schemas.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'
import { keepDrawings } from './keep-drawings.ts'
import { SLOW_CLOCK } from './slow-clock.ts'

keepDrawings()

/** In tests the data of every event are checked against its shape. */
whenEmitted.check = checkEvent

export const OPERATOR_TOKEN = 'the operator token of every test app'
export const STOREFRONT_TOKEN = 'the storefront token of every test app'

export interface Answer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects by looking
  body: any
  text: string
  /** The body as it was sent: not every body is text. */
  bytes: Buffer
}

/** A client of the app with fixed headers. */
export interface Caller {
  get(url: string): Promise<Answer>
  post(url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  put(url: string, body?: unknown): Promise<Answer>
  patch(url: string, body?: unknown): Promise<Answer>
  send(
    method: string,
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
}

export interface TestApp {
  app: App
  url: string
  runtime: Runtime
  database: TestDatabase
  anyone: Caller
  operator: Caller
  storefront: Caller
  as(headers: Record<string, string>): Caller
  /** A merchant with a key of just these scopes. Creates the store at the first call. */
  merchant(tenant: string, ...scopes: Scope[]): Promise<Caller>
  key(tenant: string, ...scopes: Scope[]): Promise<string>
  /** A person with an account and a session, who owns the stores with this address. */
  owner(email: string): Promise<Caller>
  store(tenant: string): Promise<TenantDb>
}

/** Tests never use the machine's own name server. */
const NOWHERE = { DNS_SERVERS: '127.0.0.1:9' }

export interface TestAppOptions {
  env?: Record<string, string>
  clock?: Clock
  /** How often the clocks of sandbox stores are read, by a process that does. */
  clockPollMs?: number
  /** Adds routes before the app is ready. */
  extend?: (app: App, runtime: Runtime) => Promise<void>
  /** The address of the database for the processes, where a proxy stands before it. */
  databaseUrl?: (url: string) => Promise<string>
  /** The database of another app, to be a second process beside it. */
  database?: TestDatabase
  /** A template to begin with: its database, the files that belong to it, and its stores. */
  from?: { template: string; files: string; tenants: readonly string[] }
  logger?: Logger
  /** What an image may cost. */
  imageBounds?: Partial<ChildBounds>
  /** Keeps public answers in memory, as a process that serves does. */
  live?: boolean
  /** The clock of the live cache. By default a slow one, so that it is trusted on a busy machine. */
  cacheClock?: Clock
  /**
   * Longer than in production, since the machine is busy. A test of the deadline sets the real one.
   */
  limiterDeadlineMs?: number
  /**
   * Longer than in production: of many requests at once the last one waits long for a connection.
   */
  poolWaitMs?: number
  scanner?: Scanner
  safeFetch?: SafeFetch
  /** An answer with a code that its route does not declare fails the test, unless this is set. */
  allowUndeclared?: boolean
}

/** The whole application on a database of its own. */
export async function openTestApp(t: TestContext, options: TestAppOptions = {}): Promise<TestApp> {
  const { from } = options
  const database = options.database ?? (await openTestDatabase(t, from?.template))
  const runtime = await openTestRuntime(t, database, options)
  const undeclared: string[] = []
  const app = await buildApp(runtime, {
    schemaController: COMPILED_SCHEMAS,
    onUndeclared: (route, code) => undeclared.push(`${route} answered ${code}`),
  })
  await options.extend?.(app, runtime)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(async () => {
    await app.close()
    if (undeclared.length > 0 && !options.allowUndeclared) throw new Error(undeclared.join('\n'))
  })
  const as = (headers: Record<string, string>) => callerOf(url, headers)
  const { store, key } = openSeeds(runtime, from?.tenants)
  return {
    app,
    url,
    runtime,
    database,
    as,
    anyone: as({}),
    operator: as({ 'x-operator-token': OPERATOR_TOKEN }),
    storefront: as({ 'x-storefront-token': STOREFRONT_TOKEN }),
    store,
    key,
    owner: async (email) => {
      const account = { email, password: 'a password for tests', name: 'Somebody' }
      const { body } = await as({}).post('/v1/identity/signup', account)
      return as({ authorization: `Bearer ${body.session.token}` })
    },
    merchant: async (tenant, ...scopes) =>
      as({ authorization: `Bearer ${await key(tenant, ...scopes)}` }),
  }
}

export async function openTestRuntime(
  t: TestContext,
  database: TestDatabase,
  options: TestAppOptions = {},
) {
  const { env, clock, clockPollMs = 20, live, scanner, safeFetch } = options
  const { limiterDeadlineMs = 20_000, poolWaitMs = 60_000 } = options
  const { logger, databaseUrl, imageBounds } = options
  const dataDir = await mkdtemp(join(tmpdir(), 'app-'))
  t.after(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }))
  if (options.from !== undefined) await cp(options.from.files, dataDir, { recursive: true })
  const defaults = {
    NODE_ENV: 'test',
    RATE_LIMIT_MY_PER_MINUTE: '10000',
    // All people of a test sign up at one address.
    RATE_LIMIT_SIGNUPS_PER_HOUR: '10000',
    RATE_LIMIT_LOGINS_PER_MINUTE: '10000',
    DATA_DIR: dataDir,
  }
  const runtime = await openRuntime({
    config: readConfig({ ...defaults, ...NOWHERE, ...env }),
    secrets: { OPERATOR_TOKEN, STOREFRONT_TOKEN, SECRET_KEY: database.secretKey },
    logger: logger ?? createLogger(process.env.TEST_LOG ?? 'silent'),
    databaseUrl: (await databaseUrl?.(database.url)) ?? database.url,
    ...(clock === undefined ? {} : { clock }),
    clockPollMs,
    ...(scanner === undefined ? {} : { scanner }),
    ...(safeFetch === undefined ? {} : { safeFetch }),
    ...(imageBounds === undefined ? {} : { imageBounds }),
    limiterDeadlineMs,
    poolWaitMs,
    cacheClock: options.cacheClock ?? SLOW_CLOCK,
    simulatedTimeoutMs: 20,
  })
  t.after(() => runtime.close())
  if (live) runtime.cache.start()
  return runtime
}

function openSeeds({ database }: Runtime, existing: readonly string[] = []) {
  const made = new Map<string, Promise<unknown>>(
    existing.map((tenant) => [tenant, Promise.resolve()]),
  )
  const store = async (tenant: string) => {
    if (!made.has(tenant)) {
      const wanted = { tenant_ref: tenant, display_name: `The ${tenant} store` }
      made.set(tenant, stores.create(database, SYSTEM, wanted))
    }
    await made.get(tenant)
    return database.tenant(tenant)
  }
  const key = async (tenant: string, ...scopes: Scope[]) => {
    const issuer = { actor: SYSTEM, scopes: SCOPES }
    const wanted = { label: 'test', scopes: scopes.length === 0 ? [...SCOPES] : scopes }
    return (await credentials.issue(await store(tenant), issuer, wanted)).credential.key
  }
  return { store, key }
}

/** What `fetch` sends with every request. */
const USUAL_HEADERS = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate',
  'accept-language': '*',
  'sec-fetch-mode': 'cors',
  'user-agent': 'node',
}

/** A client of a running server, with fixed headers. It does not use `fetch`, which takes twice the CPU time. */
export function callerOf(url: string, headers: Record<string, string>): Caller {
  const send: Caller['send'] = async (method, path, body, more = {}) => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await request(url + path, {
      method,
      headers: { ...USUAL_HEADERS, ...headers, ...json, ...more },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const found = flatten(answer.headers)
    const bytes = unpack(Buffer.from(await answer.body.arrayBuffer()), found['content-encoding'])
    const text = bytes.toString()
    const isJson = found['content-type']?.startsWith('application/json')
    return {
      status: answer.statusCode,
      headers: found,
      body: isJson && text !== '' ? JSON.parse(text) : text,
      text,
      bytes,
    }
  }
  return callerBy(send)
}

/** Returns one text for each header; of several cookies, the last one. */
function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    const values = [value].flat()
    flat[name] = name === 'set-cookie' ? (values.at(-1) ?? '') : values.join(', ')
  }
  return flat
}

const UNPACK: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  deflate: inflateSync,
  gzip: gunzipSync,
}

const unpack = (bytes: Buffer, encoding = ''): Buffer =>
  bytes.length === 0 ? bytes : (UNPACK[encoding]?.(bytes) ?? bytes)

/** Makes a client from the one function that sends. */
export const callerBy = (send: Caller['send']): Caller => ({
  send,
  get: (path) => send('GET', path),
  post: (path, body, more) => send('POST', path, body, more),
  put: (path, body) => send('PUT', path, body),
  patch: (path, body) => send('PATCH', path, body),
})

const RETRY_MS = 500

/** Wraps a caller so that it sends again after a 503, for drills that prepare data on a busy machine. */
export const patient = ({ send }: Caller): Caller =>
  callerBy(async (...request) => {
    for (;;) {
      const answer = await send(...request)
      if (answer.status !== 503) return answer
      await pause(RETRY_MS)
    }
  })
