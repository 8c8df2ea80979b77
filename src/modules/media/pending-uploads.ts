import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ApiError } from '../../errors.ts'
import { machineNow } from '../../kernel/clock.ts'
import { refuse } from './errors.ts'
import { freeBuffer } from './process-image.ts'

/** The age from which a file is abandoned. An upload takes seconds; an older file belongs to a killed process. */
const ABANDONED_MS = 60 * 60 * 1_000

/**
 * Uploads of one store that may arrive or wait at a time. Each can be 27 MB, and without a limit
 * one key could fill the disk, which all stores share.
 */
const PER_STORE_MAX = 32

/** An upload that has arrived and waits on disk. */
export interface PendingUpload {
  read(): Promise<Buffer>
  /** Deletes the file. To be called in any case, whether the upload succeeded or failed. */
  drop(): Promise<void>
}

/** Uploads that wait on disk for their turn, so that they need no memory meanwhile. */
export interface PendingUploads {
  /**
   * Writes an upload to disk. Throws `asset_too_large` at the first byte too many and
   * `rate_limited` if the store has too many uploads waiting; either leaves nothing behind.
   */
  receive(tenant: string, stream: Readable, bytesMax: number): Promise<PendingUpload>
  /** Removes the files of killed processes. Returns how many. */
  removeAbandoned(): Promise<number>
}

export function createPendingUploads(dataDir: string): PendingUploads {
  const folder = join(dataDir, 'uploads')
  const storeLimit = createStoreLimit()
  return {
    async receive(tenant, stream, bytesMax) {
      const release = storeLimit.reserve(tenant)
      const path = join(folder, randomUUID())
      const drop = () => rm(path, { force: true }).finally(release)
      try {
        await mkdir(folder, { recursive: true })
        await write(path, stream, bytesMax)
      } catch (error) {
        await drop()
        throw error
      }
      return { read: () => readFile(path), drop }
    },

    async removeAbandoned() {
      const names = await readdir(folder).catch(() => [])
      const old = await Promise.all(names.map((name) => isAbandoned(join(folder, name))))
      const abandoned = names.filter((_, i) => old[i])
      await Promise.all(abandoned.map((name) => rm(join(folder, name), { force: true })))
      return abandoned.length
    },
  }
}

/**
 * Counts the uploads of each store. `reserve` returns a function that releases the place; calling it
 * again releases nothing more.
 */
function createStoreLimit() {
  const byStore = new Map<string, Set<symbol>>()
  return {
    reserve(tenant: string): () => void {
      const uploads = byStore.get(tenant) ?? new Set()
      if (uploads.size >= PER_STORE_MAX) throw tooMany()
      const upload = Symbol(tenant)
      byStore.set(tenant, uploads.add(upload))
      return () => {
        if (uploads.delete(upload) && uploads.size === 0) byStore.delete(tenant)
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
    // The stream is not destroyed when we stop early: the answer goes out on the same socket.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length
      if (bytes > bytesMax) throw refuse('asset_too_large')
      await file.writeFile(chunk as Buffer)
      // The chunk is ours alone and written. With a hundred uploads at once, the garbage collector
      // would run too late.
      freeBuffer(chunk as Buffer)
    }
  } finally {
    await file.close()
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && machineNow() - found.mtimeMs > ABANDONED_MS
}
