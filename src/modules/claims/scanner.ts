import { Worker } from 'node:worker_threads'
import { Value } from 'typebox/value'
import { ApiError } from '../../errors.ts'
import { RULES_VERSION } from './rules.ts'
import { FINDINGS_MAX, scanDocument, walkStrings } from './scan.ts'
import { ScanResult } from './schema.ts'

interface ScannerOptions {
  workerUrl?: URL
  /** How long one document may take. A scan of the largest takes a fifth of it. */
  deadlineMs?: number
  /** How long a thread may take to start. */
  startMs?: number
  /** Threads at most. One more than one, so that a document that hangs does not stop the others. */
  threads?: number
  /** Documents with more text than this leave the event loop: it takes about 4 ms to read. */
  inlineCharacters?: number
}

export interface Scanner {
  scan: (value: unknown) => Promise<ScanResult>
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

/** More waiting documents than this would wait longer than any caller does. */
const WAITING_MAX = 32

const unavailable = (cause: unknown) => new ApiError('scan_unavailable', { cause })

/**
 * Reads small documents at once and large ones in threads. Whatever goes wrong, a scan that did not
 * run to its end is an error and never a pass.
 */
export function createScanner(options: ScannerOptions = {}): Scanner {
  const { inlineCharacters = 32_768 } = options
  const pool = createPool(options)
  return {
    async scan(value) {
      try {
        if (!isLarger(value, inlineCharacters)) return scanDocument(value)
      } catch (error) {
        throw unavailable(error)
      }
      return pool.run(value)
    },
    close: pool.close,
  }
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

function createPool(options: ScannerOptions) {
  const { deadlineMs = 1_000, startMs = 10_000, threads: most = 2 } = options
  const workerUrl = options.workerUrl ?? new URL('./scan-worker.ts', import.meta.url)
  const threads = new Set<Thread>()
  const waiting: Job[] = []
  let lastId = 0

  /** Ends a thread and with it the scan it was at; a thread that never started fails all who wait. */
  function end(thread: Thread, cause: unknown) {
    if (!threads.delete(thread)) return
    clearTimeout(thread.timer)
    thread.worker.terminate().catch(() => undefined)
    thread.job?.reject(unavailable(cause))
    if (!thread.ready) for (const job of waiting.splice(0)) job.reject(unavailable(cause))
    dispatch()
  }

  function start() {
    const worker = new Worker(workerUrl, { resourceLimits: { maxOldGenerationSizeMb: 256 } })
    const timer = setTimeout(() => end(thread, new Error('the thread did not start')), startMs)
    const thread: Thread = { worker, ready: false, job: undefined, timer }
    threads.add(thread)
    worker.on('message', (message: unknown) => {
      if (thread.ready) answer(thread, message)
      else if (message === 'ready') {
        clearTimeout(thread.timer)
        thread.ready = true
        worker.unref()
        dispatch()
      } else end(thread, new Error('the thread spoke out of turn'))
    })
    worker.on('error', (error) => end(thread, error))
    worker.on('messageerror', (error) => end(thread, error))
    worker.on('exit', (code) => end(thread, new Error(`the thread ended with ${code}`)))
  }

  function answer(thread: Thread, message: unknown) {
    const { job } = thread
    const result = job && readAnswer(message, job.id)
    if (job === undefined || result === undefined) {
      return end(thread, new Error('the thread gave no result'))
    }
    clearTimeout(thread.timer)
    thread.job = undefined
    thread.worker.unref()
    job.resolve(result)
    dispatch()
  }

  function give(thread: Thread, job: Job) {
    thread.job = job
    thread.worker.ref()
    thread.timer = setTimeout(() => end(thread, new Error('the scan took too long')), deadlineMs)
    try {
      thread.worker.postMessage({ id: job.id, value: job.value })
    } catch (error) {
      end(thread, error)
    }
  }

  function dispatch() {
    for (const thread of threads) {
      if (!thread.ready || thread.job !== undefined) continue
      const job = waiting.shift()
      if (job === undefined) return
      give(thread, job)
    }
    const starting = [...threads].filter(({ ready }) => !ready).length
    if (waiting.length > starting && threads.size < most) start()
  }

  return {
    run: (value: unknown) =>
      new Promise<ScanResult>((resolve, reject) => {
        if (waiting.length >= WAITING_MAX) {
          return reject(unavailable(new Error('too many scans are waiting')))
        }
        lastId += 1
        waiting.push({ id: lastId, value, resolve, reject })
        dispatch()
      }),
    async close() {
      const closed = new Error('the scanner was closed')
      for (const job of waiting.splice(0)) job.reject(unavailable(closed))
      const ending = [...threads].map(({ worker }) => worker.terminate())
      for (const thread of [...threads]) end(thread, closed)
      await Promise.all(ending)
    },
  }
}

/** The result for this very document, judged by these very rules and in itself consistent. */
function readAnswer(message: unknown, id: number): ScanResult | undefined {
  const { id: answered, result } = (message ?? {}) as { id?: unknown; result?: unknown }
  if (answered !== id || !Value.Check(ScanResult, result)) return undefined
  const hasCritical = result.findings.some(({ severity }) => severity === 'CRITICAL')
  const consistent = result.passed === !hasCritical && result.findings.length <= FINDINGS_MAX
  return consistent && result.rulesVersion === RULES_VERSION ? result : undefined
}
