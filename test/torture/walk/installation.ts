import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { callerOf, OPERATOR_TOKEN, STOREFRONT_TOKEN } from '../../harness/app.ts'
import { defer, emptyFolder, start } from '../../harness/embedded.ts'
import { startNmi, type TestNmi } from '../../harness/nmi.ts'
import { freePort } from '../../harness/ports.ts'
import { startProcess, type TestProcess } from '../../harness/process.ts'
import { openProxy, type TestProxy } from '../../harness/proxy.ts'
import { type FaultyGateway, openFaultyGateway } from './gateway-faults.ts'
import { randomOf } from './random.ts'

const SECURITY_KEY = 'the-security-key-of-the-walk-at-nmi'

/** Processes are killed here, and never the machine: what is written need not be on the disk. */
export const POSTGRES = { fsync: 'off', shared_buffers: '64MB', max_connections: '200' }

export interface WalkServer {
  name: string
  /** Through a proxy, which cuts connections of callers. */
  url: string
  callers: TestProxy
  /** The proxy before the database. */
  database: TestProxy
  /** Whether a disturbance works on it: only one at a time. */
  isDisturbed: boolean
  isUp(): boolean
  pid(): number
  start(): Promise<void>
  /** Kills the process, and waits for its end. */
  kill(): Promise<void>
  stop(): Promise<{ code: number | null }>
}

/** Two serving processes on one PostgreSQL, with a faulty gateway. */
export interface Installation {
  dataDir: string
  servers: readonly [WalkServer, WalkServer]
  superuser: pg.Pool
  nmi: TestNmi
  gateway: FaultyGateway
  env: Record<string, string>
  /** What went wrong with the processes themselves. */
  faults: string[]
  /** The last lines that the processes have logged. */
  logs(): string
}

export async function openInstallation(t: TestContext, seed: string): Promise<Installation> {
  const dataDir = await emptyFolder(t)
  const postgres = await start(t, dataDir, { settings: POSTGRES })
  const nmi = await startNmi(SECURITY_KEY)
  const gateway = await openFaultyGateway(nmi.url, randomOf(seed, 'gateway'))
  const superuser = new pg.Pool({ connectionString: postgres.url, max: 3 })
  // The server is killed while connections are idle.
  superuser.on('error', () => {})
  defer(t, async () => {
    await superuser.end()
    await gateway.close()
    await nmi.close()
  })
  const env = {
    ...serverEnv(),
    PAYMENT_GATEWAY: 'nmi',
    NMI_URL: gateway.url,
    NMI_SECURITY_KEY: SECURITY_KEY,
  }
  const faults: string[] = []
  const outputs: { name: string; process: TestProcess }[] = []
  const open = (name: string) =>
    openServer(t, { name, env, faults, outputs, databaseUrl: postgres.url, port: postgres.port })
  const servers = [await open('one'), await open('two')] as const
  return {
    dataDir,
    servers,
    superuser,
    nmi,
    gateway,
    env: { ...env, DATABASE_URL: postgres.url },
    faults,
    logs: () => outputs.map(({ name, process }) => `--- ${name}\n${process.output()}`).join('\n'),
  }
}

/** The settings of a server that is called as fast as it answers. */
export const serverEnv = () => ({
  OPERATOR_TOKEN,
  STOREFRONT_TOKEN,
  SECRET_KEY: randomBytes(32).toString('hex'),
  RATE_LIMIT_MY_PER_MINUTE: '1000000',
  RATE_LIMIT_FAILED_PER_MINUTE: '1000000',
  CHECKOUT_VELOCITY_PER_MINUTE: '1000000',
  DNS_SERVERS: '127.0.0.1:9',
})

interface ServerOptions {
  name: string
  env: Record<string, string>
  faults: string[]
  outputs: { name: string; process: TestProcess }[]
  databaseUrl: string
  port: number
}

export async function openServer(t: TestContext, options: ServerOptions): Promise<WalkServer> {
  const { name, faults, outputs } = options
  const dataDir = await emptyFolder(t)
  const port = await freePort()
  const database = await openProxy(t, options.port)
  const callers = await openProxy(t, port)
  const databaseUrl = new URL(options.databaseUrl)
  databaseUrl.port = String(database.port)
  const env = { ...options.env, DATABASE_URL: databaseUrl.href, PORT: String(port) }
  let running: TestProcess | null = null
  let isReady = false
  const current = () => {
    if (running === null) throw new Error(`server ${name} does not run`)
    return running
  }
  return {
    name,
    url: `http://127.0.0.1:${callers.port}`,
    callers,
    database,
    isDisturbed: false,
    isUp: () => isReady,
    pid: () => current().child.pid ?? 0,
    async start() {
      const process = await startProcess(t, { role: 'serve', dataDir, env })
      running = process
      outputs.push({ name, process })
      void process.exit.then(({ code, signal }) => {
        if (running === process) faults.push(`server ${name} ended by itself: ${code ?? signal}`)
      })
      await process.ready()
      isReady = true
    },
    async kill() {
      const process = current()
      running = null
      isReady = false
      process.kill('SIGKILL')
      await process.exit
    },
    async stop() {
      const process = current()
      running = null
      process.kill('SIGTERM')
      return process.exit
    },
  }
}

export const OPERATOR = { 'x-operator-token': OPERATOR_TOKEN }

export const asOperator = (url: string) => callerOf(url, OPERATOR)
