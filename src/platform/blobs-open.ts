import { join } from 'node:path'
import type { BlobStore } from './blobs.ts'
import { openDiskBlobs } from './blobs-disk.ts'
import { openS3Blobs, type S3Options } from './blobs-s3.ts'

export interface BlobOptions {
  /** The S3 bucket. Without it, blobs are on disk. */
  s3?: S3Options | undefined
  dataDir: string
}

/** Opens the blob store that the settings name, at its first use: most processes never use it. */
export function openBlobs({ s3, dataDir }: BlobOptions): BlobStore {
  let opened: Promise<BlobStore> | null = null
  const store = () => {
    opened ??= (s3 === undefined ? openDiskBlobs(join(dataDir, 'assets')) : openS3Blobs(s3)).catch(
      (error: unknown) => {
        // The next call tries again: a full disk may have space by then.
        opened = null
        throw error
      },
    )
    return opened
  }
  return {
    put: async (key, body, options) => (await store()).put(key, body, options),
    get: async (key, options) => (await store()).get(key, options),
    head: async (key) => (await store()).head(key),
    delete: async (key) => (await store()).delete(key),
    close: async () => (await opened)?.close(),
  }
}
