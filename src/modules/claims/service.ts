import { ApiError } from '../../errors.ts'
import { createScanner, type Scanner } from './scanner.ts'
import type { ScanResult } from './schema.ts'

export { RULES_VERSION } from './rules.ts'
export type { Scanner }

interface ScanOptions {
  scanner?: Scanner
  /** Whose document it is. */
  owner?: string
}

let shared: Scanner | undefined

function sharedScanner(): Scanner {
  shared ??= createScanner()
  return shared
}

/** Reads every key and string of a document. Rejects with `scan_unavailable` if it could not. */
export async function scan(value: unknown, options: ScanOptions = {}): Promise<ScanResult> {
  try {
    return await (options.scanner ?? sharedScanner()).scan(value, options.owner)
  } catch (error) {
    // Whatever a scanner throws, it did not finish.
    if (error instanceof ApiError) throw error
    throw new ApiError('scan_unavailable', { cause: error })
  }
}

/** Reads one short text: a product's name, a campaign's subject. Its findings have no path. */
export async function scanText(text: string): Promise<ScanResult> {
  try {
    const { scanOne } = await import('./scan.ts')
    return scanOne(text)
  } catch (cause) {
    throw new ApiError('scan_unavailable', { cause })
  }
}

/** Refuses a document that makes a prohibited claim; else hands on what was found. */
export async function requireClean(value: unknown, options: ScanOptions = {}): Promise<ScanResult> {
  const result = await scan(value, options)
  if (result.passed) return result
  const { findings, truncated } = result
  throw new ApiError('ruo_claims_violation', {
    body: truncated ? { findings, truncated } : { findings },
  })
}

/** Ends the threads; the next large document starts them anew. */
export async function closeScanner(): Promise<void> {
  const scanner = shared
  shared = undefined
  await scanner?.close()
}
