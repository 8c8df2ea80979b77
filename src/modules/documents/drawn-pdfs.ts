import { createHash } from 'node:crypto'
import type { PdfJob } from './schema.ts'

/**
 * Drawings that are kept for a while: documents with the same content are the same PDF. So an invoice that is opened
 * again, or by a program that polls, costs no drawing until its order changes.
 */

/** More than a store prints in an hour, and little beside the live cache. */
const BYTES_MAX = 32 * 1_024 * 1_024

/** One drawing has an eighth of the room at most, so that it cannot push out all others. */
const SHARE_MAX = 1 / 8

export class DrawnPdfs {
  readonly #bytesMax: number
  /** From the least to the most recently used. */
  readonly #drawn = new Map<string, Buffer>()
  #bytes = 0

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Names a drawing by its store and all that is drawn. */
  keyOf(store: string, job: PdfJob): string {
    const hash = createHash('sha256')
    hash.update(
      JSON.stringify(job.kind === 'sheet' ? [job.kind, job.sheet] : [job.kind, job.label]),
    )
    if (job.kind === 'sheet' && job.logo !== null) hash.update(job.logo)
    return `${store} ${hash.digest('base64url')}`
  }

  find(key: string): Buffer | null {
    const known = this.#drawn.get(key)
    if (known === undefined) return null
    this.#drawn.delete(key)
    this.#drawn.set(key, known)
    return known
  }

  keep(key: string, bytes: Buffer): void {
    if (bytes.length > this.#bytesMax * SHARE_MAX) return
    this.#bytes += bytes.length - (this.#drawn.get(key)?.length ?? 0)
    this.#drawn.delete(key)
    this.#drawn.set(key, bytes)
    for (const [oldest, { length }] of this.#drawn) {
      if (this.#bytes <= this.#bytesMax) return
      this.#drawn.delete(oldest)
      this.#bytes -= length
    }
  }
}
