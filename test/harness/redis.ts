import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { installPackage, onPath } from './debian.ts'
import { freePort } from './ports.ts'

/** Returns the path of `redis-server`, which is installed first where we may; null if it cannot be installed. */
export async function findRedisServer(): Promise<string | null> {
  const found = onPath('redis-server')
  if (found !== null) return found
  await installPackage('redis-server')
  return onPath('redis-server')
}

export interface TestRedis {
  port: number
  url: string
  /** Stops at once, as in a crash. All counts are lost. */
  stop(): Promise<void>
  /** Starts again on the same port. */
  restart(): Promise<void>
}

/** A server for one test, in memory only, on a free port of 127.0.0.1. */
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
