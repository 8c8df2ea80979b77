import { join } from 'node:path'
import type { BlobStore } from './blobs.ts'
import { openDiskBlobs } from './blobs-disk.ts'
import { openS3Blobs, type S3Options } from './blobs-s3.ts'

export interface BlobOptions {
  /** Unset: on disk. */
  s3?: S3Options | undefined
  dataDir: string
}

/** The store that the settings name, opened when it is first used: most processes never do. */
export function openBlobs({ s3, dataDir }: BlobOptions): BlobStore {
  let opened: Promise<BlobStore> | null = null
  const store = () => {
    opened ??= (s3 === undefined ? openDiskBlobs(join(dataDir, 'assets')) : openS3Blobs(s3)).catch(
      (error: unknown) => {
        // A disk that is full today may not be tomorrow.
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
