import type { ScanResult } from '@fairdock/claim-scanner/findings'
import { ApiError } from '../../errors.ts'
import { createScanner, type Scanner } from './scanner.ts'

interface ScanOptions {
  scanner?: Scanner
  /** The store whose document it is. */
  store?: string
}

let shared: Scanner | undefined

function sharedScanner(): Scanner {
  shared ??= createScanner()
  return shared
}

/** Scans every key and string of a document. Rejects with `scan_unavailable` if it cannot. */
export async function scan(value: unknown, options: ScanOptions = {}): Promise<ScanResult> {
  try {
    return await (options.scanner ?? sharedScanner()).scan(value, options.store)
  } catch (error) {
    // A scanner that throws did not finish, whatever the error.
    if (error instanceof ApiError) throw error
    throw new ApiError('scan_unavailable', { cause: error })
  }
}

/** Scans one short text: a product's name, a campaign's subject. Its findings have no path. */
export async function scanText(text: string): Promise<ScanResult> {
  try {
    const { scanOneText } = await import('@fairdock/claim-scanner')
    return scanOneText(text)
  } catch (cause) {
    throw new ApiError('scan_unavailable', { cause })
  }
}

/** Throws for a document with a prohibited health claim; otherwise returns its findings. */
export async function requireClean(value: unknown, options: ScanOptions = {}): Promise<ScanResult> {
  const result = await scan(value, options)
  if (result.passed) return result
  const { findings, truncated } = result
  throw new ApiError('ruo_claims_violation', {
    body: truncated ? { findings, truncated } : { findings },
  })
}

/** Ends the threads. The next large document starts new ones. */
export async function closeScanner(): Promise<void> {
  const scanner = shared
  shared = undefined
  await scanner?.close()
}
