import { createHash } from 'node:crypto'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import type { CanonicalJournal } from './schema.ts'

/** How many journals are between two checkpoints. A trial balance adds up at most these, and the unnumbered ones. */
export const CHECKPOINT_EVERY = 1_000

/** The hash before the first link. */
export const GENESIS = '0'.repeat(64)

/**
 * The hash of a link: over the previous hash, and over the journal with its number and entries. So a row
 * that is changed, added or removed changes every later link.
 */
export const chainHash = (previous: string, sequence: number, journal: CanonicalJournal): Buffer =>
  createHash('sha256')
    .update(Buffer.from(previous, 'hex'))
    .update(canonicalJson({ ...journal, sequence }))
    .digest()
