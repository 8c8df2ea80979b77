import { Worker } from 'node:worker_threads'
import { FINDINGS_MAX, RULE_SEVERITIES, type ScanResult } from '@fairdock/claim-scanner/findings'
import { RULES_VERSION } from '@fairdock/claim-scanner/rules-version'
import { walkStrings } from '@fairdock/claim-scanner/walk-strings'
import { ApiError } from '../../errors.ts'
import { WorkQueue } from '../../platform/work-queue.ts'

interface ScannerOptions {
  workerUrl?: URL
  /** How long one document may take. The largest takes a twentieth of it, on a machine with time to spare. */
  deadlineMs?: number
  /** How long a thread may take to start: a second, or ten where others use the machine. */
  startMs?: number
  /** The greatest number of threads. */
  threads?: number
  /** Documents with more text than this are scanned in a thread: this much takes about 4 ms. */
  inlineCharacters?: number
  /** Called with the time that the scan of a store's document took, without the wait for a thread and its start. */
  onScanned?: (store: string, ms: number) => void
  /** Waits until a store may have a large document scanned: what its scans used is counted when they end. */
  pace?: (store: string) => Promise<void>
}

export interface Scanner {
  /** `store` is the store of the document: documents of one store do not delay those of another. */
  scan: (value: unknown, store?: string) => Promise<ScanResult>
  close: () => Promise<void>
}

interface Job {
  id: number
  value: unknown
  store: string | undefined
  resolve: (result: ScanResult) => void
  reject: (error: ApiError) => void
}

interface Thread {
  worker: Worker
  ready: boolean
  job: Job | undefined
  /** When its scan began. */
  since: number
  timer: NodeJS.Timeout
}

const SCAN_THREAD = new URL(import.meta.resolve('@fairdock/claim-scanner/scan-thread'))

/** Two, so that a document that takes long does not stop the others. */
const THREADS = 2

/** With more documents than these, the last would wait longer than any caller does. */
const WAITING = { waiting: 32, waitingPerStore: 4 }

const unavailable = (cause: unknown) => new ApiError('scan_unavailable', { cause })

/**
 * Scans small documents at once and large ones in threads. A scan that did not run to its end is an
 * error and never a pass, whatever went wrong. Why no library: decision 0015.
 */
export function createScanner(options: ScannerOptions = {}): Scanner {
  const { inlineCharacters = 32_768 } = options
  const pool = new Pool(options)
  return {
    async scan(value, store) {
      try {
        if (!isLarger(value, inlineCharacters)) return await scanInline(value, store, options)
      } catch (error) {
        throw unavailable(error)
      }
      if (store !== undefined) await options.pace?.(store)
      return pool.run(value, store)
    },
    close: () => pool.close(),
  }
}

/**
 * Imports the lexicon on first use: it takes thirty megabytes, which a process without scans saves.
 */
async function scanInline(
  value: unknown,
  store: string | undefined,
  { onScanned }: ScannerOptions,
): Promise<ScanResult> {
  const { scanDocument } = await import('@fairdock/claim-scanner')
  const began = performance.now()
  const result = scanDocument(value)
  if (store !== undefined) onScanned?.(store, performance.now() - began)
  return result
}

const LARGE = Symbol('large')

function isLarger(value: unknown, characters: number): boolean {
  let total = 0
  try {
    walkStrings(value, (text) => {
      // Each string has a cost of its own, however short it is.
      total += text.length + 4
      if (total > characters) throw LARGE
    })
  } catch (error) {
    if (error === LARGE) return true
    throw error
  }
  return false
}

/** A pool of threads, started when first needed and replaced when they fail. */
class Pool {
  readonly #options: ScannerOptions
  readonly #threads = new Set<Thread>()
  readonly #scans: WorkQueue
  /** Scans that wait for a thread: at most as many as there may be threads. */
  readonly #jobs: Job[] = []
  #lastId = 0

  constructor(options: ScannerOptions) {
    const { threads: running = THREADS } = options
    this.#options = options
    this.#scans = new WorkQueue({ running, ...WAITING, refuse: unavailable })
  }

  run(value: unknown, store?: string): Promise<ScanResult> {
    return this.#scans.run(() => this.#scan(value, store), store)
  }

  async close(): Promise<void> {
    const closed = new Error('the scanner was closed')
    this.#rejectAll(closed)
    const threads = [...this.#threads]
    for (const thread of threads) this.#end(thread, closed)
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  #scan(value: unknown, store: string | undefined): Promise<ScanResult> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      this.#jobs.push({ id: this.#lastId, value, store, resolve, reject })
      this.#dispatch()
    })
  }

  /** Ends the wait of all scans that no thread has taken. */
  #rejectAll(cause: unknown) {
    this.#scans.rejectWaiting(unavailable(cause))
    for (const job of this.#jobs.splice(0)) job.reject(unavailable(cause))
  }

  #dispatch() {
    for (const thread of this.#threads) {
      if (!thread.ready || thread.job !== undefined) continue
      const job = this.#jobs.shift()
      if (job === undefined) return
      this.#assign(thread, job)
    }
    const starting = [...this.#threads].filter(({ ready }) => !ready).length
    const { threads = THREADS } = this.#options
    if (this.#jobs.length > starting && this.#threads.size < threads) this.#start()
  }

  #start() {
    const { startMs = 60_000 } = this.#options
    const workerUrl = this.#options.workerUrl ?? SCAN_THREAD
    const worker = new Worker(workerUrl, { resourceLimits: { maxOldGenerationSizeMb: 256 } })
    const timer = setTimeout(() => fail(new Error('the thread did not start')), startMs)
    const thread: Thread = { worker, ready: false, job: undefined, since: 0, timer }
    const fail = (cause: unknown) => this.#end(thread, cause)
    this.#threads.add(thread)
    worker.on('message', (message: unknown) => {
      if (thread.ready) this.#answer(thread, message)
      else if (message === 'ready') this.#markReady(thread)
      else fail(new Error('the thread spoke out of turn'))
    })
    worker.on('error', fail)
    worker.on('messageerror', fail)
    worker.on('exit', (code) => fail(new Error(`the thread ended with ${code}`)))
  }

  #markReady(thread: Thread) {
    clearTimeout(thread.timer)
    thread.ready = true
    // An idle thread does not keep the process alive; a busy one does.
    thread.worker.unref()
    this.#dispatch()
  }

  #assign(thread: Thread, job: Job) {
    const { deadlineMs = 5_000 } = this.#options
    const overrun = () => this.#end(thread, new Error('the scan took too long'))
    thread.job = job
    thread.since = performance.now()
    thread.timer = setTimeout(overrun, deadlineMs)
    thread.worker.ref()
    try {
      thread.worker.postMessage({ id: job.id, value: job.value })
    } catch (error) {
      // A document that cannot be sent is no fault of the thread.
      this.#release(thread)
      job.reject(unavailable(error))
      this.#dispatch()
    }
  }

  #answer(thread: Thread, message: unknown) {
    const { job } = thread
    const result = job && readResult(message, job.id)
    if (job === undefined || result === undefined) {
      return this.#end(thread, new Error('the thread gave no result'))
    }
    this.#release(thread)
    job.resolve(result)
    this.#dispatch()
  }

  #release(thread: Thread) {
    clearTimeout(thread.timer)
    this.#count(thread)
    thread.job = undefined
    thread.worker.unref()
  }

  /** Reports how long a scan took, also of one that is ended for taking too long. */
  #count({ job, since }: Thread) {
    if (job?.store !== undefined) this.#options.onScanned?.(job.store, performance.now() - since)
  }

  /** Ends a thread and its scan. A thread that never got ready fails all waiting scans. */
  #end(thread: Thread, cause: unknown) {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.timer)
    thread.worker.terminate().catch(() => undefined)
    if (!thread.ready) this.#rejectAll(cause)
    this.#count(thread)
    thread.job?.reject(unavailable(cause))
    this.#dispatch()
  }
}

/** Reads the result of a thread, if it is for this document, by these rules and consistent. */
function readResult(message: unknown, id: number): ScanResult | undefined {
  const { id: answered, result } = (message ?? {}) as { id?: unknown; result?: unknown }
  if (answered !== id || !isScanResult(result)) return undefined
  const hasCritical = result.findings.some(({ severity }) => severity === 'CRITICAL')
  const consistent = result.passed === !hasCritical && result.findings.length <= FINDINGS_MAX
  return consistent && result.rulesVersion === RULES_VERSION ? result : undefined
}

/**
 * Whether the message of a thread has the form of a result. Checked by hand, so that a process that only
 * serves requests loads no validator for it.
 */
function isScanResult(value: unknown): value is ScanResult {
  const { passed, findings, truncated, rulesVersion } = Object(value) as Partial<ScanResult>
  return (
    typeof passed === 'boolean' &&
    typeof truncated === 'boolean' &&
    typeof rulesVersion === 'string' &&
    Array.isArray(findings) &&
    findings.every(isFinding)
  )
}

function isFinding(value: unknown): boolean {
  const { path, term, rule, severity, context } = Object(value) as Record<string, unknown>
  const texts = [path, term, rule, severity, context]
  const severities: readonly unknown[] = Object.values(RULE_SEVERITIES)
  return texts.every((text) => typeof text === 'string') && severities.includes(severity)
}
