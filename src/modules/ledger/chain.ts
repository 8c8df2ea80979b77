import { createHash } from 'node:crypto'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import type { SealedForm } from './schema.ts'

/** What the first link continues. */
export const GENESIS = '0'.repeat(64)

/**
 * The hash of a link: over the hash before it and over the journal with its number and entries. So a
 * row that is changed, added or taken away shows in every link from there on.
 */
export const chainHash = (previous: string, sequence: number, journal: SealedForm): Buffer =>
  createHash('sha256')
    .update(Buffer.from(previous, 'hex'))
    .update(canonicalJson({ ...journal, sequence }))
    .digest()
