import { Worker } from 'node:worker_threads'
import { ApiError } from '../../errors.ts'
import { WorkQueue } from '../../platform/work-queue.ts'
import { RULES_VERSION } from './rules.ts'
import { FINDINGS_MAX, RULE_SEVERITIES, type ScanResult } from './schema.ts'
import { walkStrings } from './walk.ts'

interface ScannerOptions {
  workerUrl?: URL
  /** How long one document may take. A scan of the largest takes a fifth of it. */
  deadlineMs?: number
  /** How long a thread may take to start. */
  startMs?: number
  /** Threads at most. */
  threads?: number
  /** Documents with more text than this leave the event loop: it takes about 4 ms to read. */
  inlineCharacters?: number
}

export interface Scanner {
  /** `store` is whose document it is: the documents of one store do not delay another's. */
  scan: (value: unknown, store?: string) => Promise<ScanResult>
  close: () => Promise<void>
}

interface Job {
  id: number
  value: unknown
  resolve: (result: ScanResult) => void
  reject: (error: ApiError) => void
}

interface Thread {
  worker: Worker
  ready: boolean
  job: Job | undefined
  timer: NodeJS.Timeout
}

/** One more than one, so that a document that hangs does not stop the others. */
const THREADS = 2

/** More waiting documents than these would wait longer than any caller does. */
const WAITING = { waiting: 32, waitingPerStore: 4 }

const unavailable = (cause: unknown) => new ApiError('scan_unavailable', { cause })

/**
 * Reads small documents at once and large ones in threads. Whatever goes wrong, a scan that did not
 * run to its end is an error and never a pass.
 */
export function createScanner(options: ScannerOptions = {}): Scanner {
  const { inlineCharacters = 32_768 } = options
  const pool = new Pool(options)
  return {
    async scan(value, store) {
      try {
        if (!isLarger(value, inlineCharacters)) return await scanInline(value)
      } catch (error) {
        throw unavailable(error)
      }
      return pool.run(value, store)
    },
    close: () => pool.close(),
  }
}

/** The words take thirty megabytes to load: a process that scans nothing does without them. */
async function scanInline(value: unknown): Promise<ScanResult> {
  const { scanDocument } = await import('./scan.ts')
  return scanDocument(value)
}

const LARGE = Symbol('large')

function isLarger(value: unknown, characters: number): boolean {
  let total = 0
  try {
    walkStrings(value, (text) => {
      // Each string costs something however short it is.
      total += text.length + 4
      if (total > characters) throw LARGE
    })
  } catch (error) {
    if (error === LARGE) return true
    throw error
  }
  return false
}

/** A few threads, started when first needed and replaced when they fail. */
class Pool {
  readonly #options: ScannerOptions
  readonly #threads = new Set<Thread>()
  readonly #scans: WorkQueue
  /** Scans whose turn it is, until a thread takes them: as many as there may be threads. */
  readonly #jobs: Job[] = []
  #lastId = 0

  constructor(options: ScannerOptions) {
    const { threads: running = THREADS } = options
    this.#options = options
    this.#scans = new WorkQueue({ running, ...WAITING, refuse: unavailable })
  }

  run(value: unknown, store?: string): Promise<ScanResult> {
    return this.#scans.run(() => this.#scan(value), store)
  }

  async close(): Promise<void> {
    const closed = new Error('the scanner was closed')
    this.#rejectAll(closed)
    const threads = [...this.#threads]
    for (const thread of threads) this.#end(thread, closed)
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  #scan(value: unknown): Promise<ScanResult> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      this.#jobs.push({ id: this.#lastId, value, resolve, reject })
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
      this.#give(thread, job)
    }
    const starting = [...this.#threads].filter(({ ready }) => !ready).length
    const { threads = THREADS } = this.#options
    if (this.#jobs.length > starting && this.#threads.size < threads) this.#start()
  }

  #start() {
    const { startMs = 10_000 } = this.#options
    const workerUrl = this.#options.workerUrl ?? new URL('./scan-worker.ts', import.meta.url)
    const worker = new Worker(workerUrl, { resourceLimits: { maxOldGenerationSizeMb: 256 } })
    const timer = setTimeout(() => fail(new Error('the thread did not start')), startMs)
    const thread: Thread = { worker, ready: false, job: undefined, timer }
    const fail = (cause: unknown) => this.#end(thread, cause)
    this.#threads.add(thread)
    worker.on('message', (message: unknown) => {
      if (thread.ready) this.#answer(thread, message)
      else if (message === 'ready') this.#welcome(thread)
      else fail(new Error('the thread spoke out of turn'))
    })
    worker.on('error', fail)
    worker.on('messageerror', fail)
    worker.on('exit', (code) => fail(new Error(`the thread ended with ${code}`)))
  }

  #welcome(thread: Thread) {
    clearTimeout(thread.timer)
    thread.ready = true
    // An idle thread keeps no process alive; one at work does.
    thread.worker.unref()
    this.#dispatch()
  }

  #give(thread: Thread, job: Job) {
    const { deadlineMs = 1_000 } = this.#options
    const overrun = () => this.#end(thread, new Error('the scan took too long'))
    thread.job = job
    thread.timer = setTimeout(overrun, deadlineMs)
    thread.worker.ref()
    try {
      thread.worker.postMessage({ id: job.id, value: job.value })
    } catch (error) {
      // What cannot be sent is no fault of the thread.
      this.#release(thread)
      job.reject(unavailable(error))
      this.#dispatch()
    }
  }

  #answer(thread: Thread, message: unknown) {
    const { job } = thread
    const result = job && readAnswer(message, job.id)
    if (job === undefined || result === undefined) {
      return this.#end(thread, new Error('the thread gave no result'))
    }
    this.#release(thread)
    job.resolve(result)
    this.#dispatch()
  }

  #release(thread: Thread) {
    clearTimeout(thread.timer)
    thread.job = undefined
    thread.worker.unref()
  }

  /** Ends a thread and with it the scan it was at; one that never got ready fails all that wait. */
  #end(thread: Thread, cause: unknown) {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.timer)
    thread.worker.terminate().catch(() => undefined)
    if (!thread.ready) this.#rejectAll(cause)
    thread.job?.reject(unavailable(cause))
    this.#dispatch()
  }
}

/** The result for this very document, judged by these very rules and in itself consistent. */
function readAnswer(message: unknown, id: number): ScanResult | undefined {
  const { id: answered, result } = (message ?? {}) as { id?: unknown; result?: unknown }
  if (answered !== id || !isScanResult(result)) return undefined
  const hasCritical = result.findings.some(({ severity }) => severity === 'CRITICAL')
  const consistent = result.passed === !hasCritical && result.findings.length <= FINDINGS_MAX
  return consistent && result.rulesVersion === RULES_VERSION ? result : undefined
}

/**
 * Whether a thread's answer has the shape of a result. By hand: a process that serves needs no
 * more.
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
