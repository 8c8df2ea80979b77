import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ApiError } from '../../errors.ts'
import { machineNow } from '../../kernel/clock.ts'
import { free } from './workshop.ts'

/** An upload takes seconds. What is older belongs to a process that was killed. */
const ABANDONED_MS = 60 * 60 * 1_000

/**
 * Uploads of one store that may arrive or lie here at a time. Each can be 27 MB, and without a
 * bound one key fills the disk that everybody's data is on, and the line that everybody's images
 * wait in.
 */
const PER_STORE_MAX = 32

/** An upload that has arrived and lies on disk. */
export interface Spooled {
  read(): Promise<Buffer>
  /** To be called when it is done with, however that ended. */
  drop(): Promise<void>
}

/**
 * Where uploads wait until there is room to work on them, so that they need no memory meanwhile.
 */
export interface Spool {
  /**
   * Throws `asset_too_large` at the first byte too many and `rate_limited` when the store has too
   * many here already, and leaves nothing behind then.
   */
  receive(tenant: string, stream: Readable, bytesMax: number): Promise<Spooled>
  /** Removes what killed processes left. Answers how many. */
  sweep(): Promise<number>
}

export function createSpool(dataDir: string): Spool {
  const folder = join(dataDir, 'uploads')
  const places = createPlaces()
  return {
    async receive(tenant, stream, bytesMax) {
      const leave = places.take(tenant)
      const path = join(folder, randomUUID())
      const drop = () => rm(path, { force: true }).finally(leave)
      try {
        await mkdir(folder, { recursive: true })
        await write(path, stream, bytesMax)
      } catch (error) {
        await drop()
        throw error
      }
      return { read: () => readFile(path), drop }
    },

    async sweep() {
      const names = await readdir(folder).catch(() => [])
      const old = await Promise.all(names.map((name) => isOld(join(folder, name))))
      const left = names.filter((_, i) => old[i])
      await Promise.all(left.map((name) => rm(join(folder, name), { force: true })))
      return left.length
    },
  }
}

/**
 * Counts what each store has here. A place that was taken is left once, however often one says so.
 */
function createPlaces() {
  const taken = new Map<string, Set<symbol>>()
  return {
    take(tenant: string): () => void {
      const mine = taken.get(tenant) ?? new Set()
      if (mine.size >= PER_STORE_MAX) throw tooMany()
      const place = Symbol(tenant)
      taken.set(tenant, mine.add(place))
      return () => {
        if (mine.delete(place) && mine.size === 0) taken.delete(tenant)
      }
    },
  }
}

const tooMany = () =>
  new ApiError('rate_limited', {
    message: `Too many uploads at the same time: at most ${PER_STORE_MAX} for each store. Try again in a moment.`,
    headers: { 'retry-after': '1' },
  })

async function write(path: string, stream: Readable, bytesMax: number): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    let bytes = 0
    // Not destroyed when we stop early: the answer goes out on the same socket.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length
      if (bytes > bytesMax) throw new ApiError('asset_too_large')
      await file.writeFile(chunk as Buffer)
      // Ours alone, and of no use any more. A hundred uploads at once are more than a collector
      // sees in time.
      free(chunk as Buffer)
    }
  } finally {
    await file.close()
  }
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && machineNow() - found.mtimeMs > ABANDONED_MS
}
