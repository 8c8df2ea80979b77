import { createHash } from 'node:crypto'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import type { SealedForm } from './schema.ts'

/** Journals between two checkpoints: what a trial balance adds up at most, but for the newest. */
export const CHECKPOINT_EVERY = 1_000

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
