import type { ScanResult } from '@fairdock/claim-scanner/findings'
import { ApiError } from '../../errors.ts'
import type { Scanner } from '../health-claims/scanner.ts'
import * as healthClaims from '../health-claims/service.ts'
import { renderMarkdown } from './render-markdown.ts'

/** The texts of a mail that readers see. */
interface Text {
  subject: string
  body_markdown: string
  /** Stands before the subject in a list of mails. */
  sender_name: string | null
}

/**
 * Scans a mail for prohibited health claims: as it was written, and as it is shown, since marks of
 * Markdown can divide a word.
 */
export async function scanMail(
  scanner: Scanner,
  store: string,
  { subject, body_markdown, sender_name }: Text,
): Promise<ScanResult> {
  const options = { scanner, store }
  const written = await healthClaims.scan({ subject, body_markdown, sender_name }, options)
  if (!written.passed) return written
  const shown = await healthClaims.scan({ body_markdown: renderMarkdown(body_markdown) }, options)
  return shown.passed ? written : shown
}

/** Refuses a mail with a prohibited claim. */
export async function requireCleanText(scanner: Scanner, store: string, text: Text): Promise<void> {
  const { passed, findings, truncated } = await scanMail(scanner, store, text)
  if (passed) return
  throw new ApiError('ruo_claims_violation', {
    message: 'The mail makes a prohibited health claim. Remove what `findings` lists.',
    body: truncated ? { findings, truncated } : { findings },
  })
}
