import { hash } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import type { BlobStore } from './blobs.ts'

/** The extension of an archive's key: lines of JSON, compressed. No asset has this extension. */
const EXTENSION = 'ndjsongz'

/**
 * The columns that no archive has. An erasure must not be undone by a file that it does not know: an archive has no
 * personal data, so an erasure never has to rewrite one.
 */
export const PERSONAL_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  webhook_events: ['data', 'payload', 'customer_ref'],
}

/** A file of the blob store with rows, each a line of JSON. */
export interface ArchiveFile {
  row_count: number
  file_sha256: string
  rows_sha256: string
  bytes: number
}

const keyOf = (tenant: string, fileSha256: string) => `${tenant}/${fileSha256}.${EXTENSION}`

/**
 * Writes lines to the blob store, reads them back and compares. The same lines get the same name, so a process that
 * continues the work of a killed one writes nothing twice.
 */
export async function writeArchive(
  blobs: BlobStore,
  tenant: string,
  lines: readonly string[],
): Promise<ArchiveFile> {
  const content = `${lines.join('\n')}\n`
  const file = await promisify(gzip)(content)
  const written = {
    row_count: lines.length,
    file_sha256: hash('sha256', file),
    rows_sha256: hash('sha256', content),
    bytes: file.length,
  }
  const key = keyOf(tenant, written.file_sha256)
  await blobs.put(key, file, { contentType: 'application/gzip' })
  const read = await readArchive(blobs, tenant, written)
  if (read.length !== lines.length) throw new Error(`the archive ${key} lacks rows`)
  return written
}

/** Reads an archive back. Throws unless its lines are those that were written. */
export async function readArchive(
  blobs: BlobStore,
  tenant: string,
  { file_sha256, rows_sha256 }: Pick<ArchiveFile, 'file_sha256' | 'rows_sha256'>,
): Promise<string[]> {
  const key = keyOf(tenant, file_sha256)
  const blob = await blobs.get(key)
  if (blob === null) throw new Error(`the archive ${key} is missing`)
  const unzip = createGunzip()
  blob.stream.once('error', (error) => unzip.destroy(error))
  const content = await text(blob.stream.pipe(unzip))
  if (hash('sha256', content) !== rows_sha256) throw new Error(`the archive ${key} is damaged`)
  return content.trimEnd().split('\n')
}
