import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { buildApp } from '../../src/compose/app.ts'
import { readConfig } from '../../src/config.ts'
import { migrate } from '../../src/db/migrate.ts'
import type { ApiDocument } from '../../src/http/api-document.ts'
import { documentText } from '../../src/http/openapi.ts'
import { closeAll } from '../../src/platform/close-all.ts'
import { createLogger } from '../../src/platform/log.ts'
import { planForBigStores } from '../../src/platform/store-plans.ts'
import { openRuntime, type Runtime } from '../../src/runtime.ts'
import { type FillOptions, fill } from './fill/fill.ts'
import { settle } from './settle.ts'
import type { Size } from './size.ts'

export const SECRET_KEY = 'the secret key of the benchmark database'
export const OPERATOR_TOKEN = 'the operator token of the benchmark'
export const STOREFRONT_TOKEN = 'a token for the benchmark alone, never used'

const SETTINGS = {
  // Counts the pages of every statement, with what its functions read.
  shared_preload_libraries: 'pg_stat_statements',
  // Nothing but the measured requests reads pages.
  autovacuum: 'off',
  max_wal_size: '8GB',
  // As on a server that holds so much data; the embedded one is set up for a laptop.
  shared_buffers: '1GB',
}

/** No limit refuses a measured request. */
export const NO_LIMITS = {
  RATE_LIMIT_MY_PER_MINUTE: '1000000',
  CHECKOUT_VELOCITY_PER_MINUTE: '1000000',
}

/**
 * A store's share of the database grows with the pool. With this one a request never waits for the share
 * that requests before it have used up, and its time is its own.
 */
const NO_PACE = { DATABASE_POOL_MAX: '100' }

/** On a busy machine a new connection takes seconds, which says nothing about the request. */
const PATIENT = { poolWaitMs: 60_000, limiterDeadlineMs: 20_000 }

/** A filled database with the app on it, without loops and with nothing kept in memory. */
export interface FilledApp {
  databaseUrl: string
  url: string
  runtime: Runtime
  /** A connection of the superuser. */
  admin: pg.Client
  document: ApiDocument
  close(): Promise<void>
}

export interface FilledAppOptions extends Pick<FillOptions, 'size' | 'onStep'> {
  dataDir: string
  /** Settings of the database that differ from those for counting pages. */
  settings?: Readonly<Record<string, string>>
}

export async function openFilledApp({
  dataDir,
  settings,
  ...filling
}: FilledAppOptions): Promise<FilledApp> {
  const server = await startEmbedded({
    dataDir,
    password: 'only for the benchmark',
    settings: { ...SETTINGS, ...settings },
  })
  const closes: (() => Promise<unknown>)[] = [server.stop]
  const close = () => closeAll(closes.toReversed().map((each) => [each]))
  try {
    const databaseUrl = server.url
    await migrate({ url: databaseUrl, secretKey: SECRET_KEY })
    const isKept = await isFilled(dataDir, filling.size)
    if (!isKept) {
      await set(databaseUrl, 'full_page_writes = off')
      await fill({ url: databaseUrl, secretKey: SECRET_KEY, ...filling })
      await set(databaseUrl, 'full_page_writes = on')
      await writeFile(join(dataDir, FILLED), JSON.stringify(filling.size))
    }
    const admin = new pg.Client({ connectionString: databaseUrl })
    await admin.connect()
    closes.push(() => admin.end())
    await admin.query('create extension if not exists pg_stat_statements')
    const runtime = await openRuntime({
      config: readConfig({ ...NO_LIMITS, ...NO_PACE, DATA_DIR: dataDir }),
      secrets: { OPERATOR_TOKEN, STOREFRONT_TOKEN, SECRET_KEY },
      logger: createLogger('silent'),
      databaseUrl,
      ...PATIENT,
    })
    closes.push(() => runtime.close())
    await planForBigStores(runtime.workerDatabase)
    if (isKept) await settle(admin, runtime)
    const app = await buildApp(runtime)
    closes.push(() => app.close())
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const document: ApiDocument = JSON.parse(await documentText(app))
    return { databaseUrl, url, runtime, admin, document, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Written when a database is filled, with its size, so that one that is kept can be measured again. */
const FILLED = 'filled.json'

async function isFilled(dataDir: string, size: Size): Promise<boolean> {
  const text = await readFile(join(dataDir, FILLED), 'utf8').catch(() => null)
  if (text === null) return false
  if (text !== JSON.stringify(size)) throw new Error(`${dataDir} was filled with ${text}`)
  return true
}

/** Changes a setting of the generator: its log need not survive a crash. */
async function set(url: string, setting: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await changeSetting(admin, setting)
  await admin.end()
}

/** Changes a setting of the running server, for all its connections. */
export async function changeSetting(admin: pg.Client, setting: string): Promise<void> {
  await admin.query(`alter system set ${setting}`)
  await admin.query('select pg_reload_conf()')
}
