import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { type EmbeddedOptions, startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'

export const PASSWORD = 'correct horse/battery'
/** These tests are about processes, so that the disk need not be safe. */
export const settings = { fsync: 'off', shared_buffers: '8MB' }

/** A process that starts the server, prints its address, and stops it on SIGTERM. */
const STARTER = `
  import { startEmbedded } from ${JSON.stringify(import.meta.resolve('@fairdock/embedded-postgres'))}
  const server = await startEmbedded(JSON.parse(process.argv[1]))
  process.once('SIGTERM', () => server.stop().then(() => process.exit(0)))
  console.log(JSON.stringify(server))
  setInterval(() => {}, 60_000)`

const cleanups = new WeakMap<TestContext, (() => unknown)[]>()

/** Cleans up in the reverse order, so that no folder is removed before its server. */
export function defer(t: TestContext, undo: () => unknown): void {
  const list = cleanups.get(t) ?? []
  if (!cleanups.has(t)) {
    cleanups.set(t, list)
    t.after(async () => {
      for (const each of list.reverse()) await each()
    })
  }
  list.push(undo)
}

export async function emptyFolder(t: TestContext, mode = 0o711): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'embedded-'))
  await chmod(dir, mode)
  defer(t, () => rm(dir, { recursive: true, force: true, maxRetries: 20 }))
  return dir
}

export async function start(t: TestContext, dataDir: string, over: Partial<EmbeddedOptions> = {}) {
  const server = await startEmbedded({ dataDir, password: PASSWORD, settings, ...over })
  defer(t, () => server.stop())
  return server
}

export function spawnStarter(t: TestContext, dataDir: string, uid?: number): ChildProcess {
  const options = JSON.stringify({ dataDir, password: PASSWORD, settings })
  const child = spawn(process.execPath, ['--input-type=module', '-e', STARTER, options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    ...(uid && { uid, gid: uid }),
  })
  defer(t, () => end(child, 'SIGTERM'))
  return child
}

export async function announced(child: ChildProcess): Promise<{ url: string; port: number }> {
  if (!child.stdout) throw new Error('no output to read')
  for await (const line of createInterface(child.stdout)) return JSON.parse(line)
  throw new Error('the starter ended early')
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

export async function query(url: string, text: string): Promise<unknown[][]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `fairdock:${process.pid}:test`,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query({ text, rowMode: 'array' })).rows
  } finally {
    await client.end().catch(() => {})
  }
}

export const postmasterPid = async (dataDir: string) =>
  Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10)

export const isOpen = (port: number, host = '127.0.0.1') =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ port, host, timeout: 1_000 })
    const settle = (open: boolean) => {
      socket.destroy()
      resolve(open)
    }
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
    socket.once('timeout', () => settle(false))
  })
