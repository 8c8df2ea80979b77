import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { freePort } from './ports.ts'

const run = promisify(execFile)

/** Whoever comes second waits, and finds it installed. The service itself is not to start. */
const INSTALL = `
  command -v redis-server > /dev/null && exit 0
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends redis-server`

/** Where `redis-server` is, installed first where that is ours to do. Null where there is none. */
export async function findRedisServer(): Promise<string | null> {
  const found = onPath('redis-server')
  if (found !== null) return found
  const mayInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  if (!mayInstall || onPath('apt-get') === null || onPath('flock') === null) return null
  const lock = join(tmpdir(), 'redis-server-install.lock')
  // Without a network there is nothing to install from; who asked then skips its tests.
  await run('flock', [lock, 'sh', '-c', INSTALL], { timeout: 180_000 }).catch(() => {})
  return onPath('redis-server')
}

function onPath(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
}

export interface TestRedis {
  port: number
  url: string
  /** At once, as in a crash. Nothing it counted is kept. */
  stop(): Promise<void>
  /** On the same port as before. */
  restart(): Promise<void>
}

/** A server of the test's own, in memory only, on a free port of 127.0.0.1. */
export async function startRedis(t: TestContext, program: string): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'))
  const port = await freePort()
  let server: ChildProcess | null = null

  async function restart() {
    const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder]
    server = spawn(program, [...settings, '--save', '', '--appendonly', 'no'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await isReady(server)
  }

  async function stop() {
    if (server === null || server.exitCode !== null || server.signalCode !== null) return
    const exit = once(server, 'exit')
    server.kill('SIGKILL')
    await exit
  }

  t.after(async () => {
    await stop()
    await rm(folder, { recursive: true, force: true })
  })
  await restart()
  return { port, url: `redis://127.0.0.1:${port}`, stop, restart }
}

async function isReady(server: ChildProcess): Promise<void> {
  if (server.stdout === null) throw new Error('no output to read')
  for await (const line of createInterface(server.stdout)) {
    if (line.includes('Ready to accept connections')) {
      server.stdout.resume()
      return
    }
  }
  throw new Error('redis-server ended early')
}
