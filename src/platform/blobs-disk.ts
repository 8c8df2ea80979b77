import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { machineNow } from '../kernel/clock.ts'
import {
  type BlobRange,
  BlobRangeError,
  type BlobStore,
  checkRange,
  parseKey,
  verified,
} from './blobs.ts'

/** The folder of unfinished uploads. No store's name begins with a dot. */
const UPLOADS = '.uploads'

/** The age from which an unfinished upload belongs to a process that was killed. */
const ABANDONED_MS = 24 * 60 * 60 * 1_000

/** Stores blobs as files below one folder. A blob whose `put` has returned survives a power cut. */
export async function openDiskBlobs(folder: string): Promise<BlobStore> {
  const uploads = join(folder, UPLOADS)
  await mkdir(uploads, { recursive: true })
  await deleteAbandoned(uploads)

  const pathOf = (key: string) => {
    const { tenant, sha256, extension } = parseKey(key)
    return join(folder, tenant, `${sha256}.${extension}`)
  }

  return {
    async put(key, body) {
      const path = pathOf(key)
      const upload = join(uploads, randomUUID())
      try {
        await writeDurably(upload, verified(body, parseKey(key).sha256))
        await moveDurably(upload, path, folder)
      } catch (error) {
        await rm(upload, { force: true })
        throw error
      }
    },

    async get(key, { range } = {}) {
      if (range !== undefined) checkRange(range)
      const file = await orNull(open(pathOf(key)))
      if (file === null) return null
      try {
        const { size } = await file.stat()
        const { start, bytes } = clip(size, range)
        // An end before the start would be refused, so an empty range is read from the end of the
        // file.
        const end = { start, end: Math.max(start + bytes - 1, 0) }
        const stream = file.createReadStream(bytes === 0 ? { start: size } : end)
        return { stream, bytes, totalBytes: size }
      } catch (error) {
        await file.close()
        throw error
      }
    },

    async head(key) {
      const found = await orNull(stat(pathOf(key)))
      return found === null ? null : { totalBytes: found.size }
    },

    delete: (key) => rm(pathOf(key), { force: true }),

    async close() {},
  }
}

function clip(size: number, range: BlobRange | undefined) {
  if (range === undefined) return { start: 0, bytes: size }
  if (range.start >= size) throw new BlobRangeError()
  const end = Math.min(range.end ?? size - 1, size - 1)
  return { start: range.start, bytes: end - range.start + 1 }
}

async function writeDurably(path: string, body: Readable) {
  const file = await open(path, 'wx')
  try {
    await file.writeFile(body)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Moves a file so that the move survives a power cut: a new name is safe only when its folder is
 * synced, and a new folder when its parent is.
 */
async function moveDurably(from: string, to: string, root: string) {
  const made = await mkdir(dirname(to), { recursive: true })
  await rename(from, to)
  await syncFolder(dirname(to))
  if (made !== undefined) await syncFolder(root)
}

async function syncFolder(path: string) {
  // Windows cannot open a folder, and writes names to disk on its own.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function deleteAbandoned(uploads: string) {
  for (const name of await readdir(uploads)) {
    const path = join(uploads, name)
    const found = await orNull(stat(path))
    if (found !== null && machineNow() - found.mtimeMs > ABANDONED_MS)
      await rm(path, { force: true })
  }
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw error
  }
}
