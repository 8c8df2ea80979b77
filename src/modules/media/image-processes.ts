import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ApiError } from '../../errors.ts'
import { WorkQueue } from '../../platform/work-queue.ts'
import { damaged } from './images/parsed-image.ts'
import type { Raster } from './schema.ts'

/** What is done with an image. */
export type ImageTask =
  /** Decodes all of it, so that a stored image is one that can be shown. */
  | { kind: 'verify' }
  /** Encodes it again, upright and in sRGB. The encoder adds no metadata. */
  | { kind: 'reencode'; contentType: Raster; orientation: number }
  /** Makes a smaller copy. */
  | { kind: 'resize'; contentType: Raster; width: number }

export interface ImageBounds {
  /** The CPU time of one image, in milliseconds. */
  cpuMs: number
  /** The memory of an image process, in mebibytes. */
  memoryMb: number
  /** The time of one image, in milliseconds: the last bound, on a machine without any CPU to spare. */
  wallMs: number
}

export interface ImageInput {
  bytes: Buffer
  animated: boolean
  task: ImageTask
}

export type ImageJob = ImageInput & ImageBounds

export interface ImageResult {
  /** Null where the image was only verified. */
  bytes: Buffer | null
  width: number
  height: number
}

/** What an image process answers. */
export type ImageReply =
  | ({ kind: 'done' } & ImageResult)
  | { kind: 'damaged'; message: string }
  | { kind: 'too_costly' }

/** Runs a job in an image process. Throws `image_invalid` if the image is at fault. */
export type PerformImageJob = (input: ImageInput) => Promise<ImageResult>

/** All work on images of a process. */
export interface ImageProcesses {
  /**
   * Runs work of a store when it is its turn. Its jobs run in a process that is ended when the signal
   * is aborted, and when a job exceeds its bounds.
   */
  run<T>(
    store: string,
    work: (perform: PerformImageJob) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /** How much work of a store waits. */
  waitingOf(store: string): number
  close(): Promise<void>
}

/**
 * The largest image that is accepted takes a quarter of the CPU time and 500 MB, see PIXELS in
 * process-image.ts.
 */
const BOUNDS: ImageBounds = { cpuMs: 20_000, memoryMb: 640, wallMs: 120_000 }

/**
 * Two images at a time, of two stores: a store whose images take long waits for itself. Each can be 20 MB
 * before it is decoded.
 */
const QUEUE = { running: 2, runningPerStore: 1, waiting: 1_000, waitingPerStore: 64 }

/** An idle process takes 70 MB. A new one takes a fifth of a second to start. */
const IDLE_MS = 30_000

const PROGRAM = fileURLToPath(new URL('./image-process.ts', import.meta.url))

/** Of a decoder that failed on an image. Any other signal came from outside. */
const CRASHES: readonly (string | null)[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE']

const tooCostly = () =>
  new ApiError('image_invalid', {
    message: 'The image takes too much time or memory to process. Upload a smaller or simpler one.',
  })

export function createImageProcesses(bounds: Partial<ImageBounds> = {}): ImageProcesses {
  const queue = new WorkQueue(QUEUE)
  const pool = new Pool({ ...BOUNDS, ...bounds })
  return {
    run: (store, work, signal) =>
      queue.run(() => work((input) => pool.perform(input, signal)), store, signal),
    waitingOf: (store) => queue.waitingOf(store),
    async close() {
      queue.rejectWaiting(new ApiError('service_unavailable', { kind: 'overload' }))
      pool.close()
    },
  }
}

/** The processes, started when first needed. The queue bounds how many jobs there are. */
class Pool {
  readonly #bounds: ImageBounds
  readonly #all = new Set<ChildProcess>()
  readonly #idle = new Map<ChildProcess, NodeJS.Timeout>()

  constructor(bounds: ImageBounds) {
    this.#bounds = bounds
  }

  async perform(input: ImageInput, signal?: AbortSignal): Promise<ImageResult> {
    signal?.throwIfAborted()
    const child = this.#take()
    try {
      const reply = await exchange(child, { ...input, ...this.#bounds }, signal)
      if (reply.kind === 'too_costly') throw tooCostly()
      this.#keep(child)
      if (reply.kind === 'damaged') throw damaged(new Error(reply.message))
      return reply
    } finally {
      // A process that gave no answer is at work still, or has ended.
      if (!this.#idle.has(child)) this.#end(child)
    }
  }

  close(): void {
    for (const child of this.#all) this.#end(child)
  }

  #take(): ChildProcess {
    const [known] = this.#idle
    if (known === undefined) return this.#start()
    const [child, timer] = known
    clearTimeout(timer)
    this.#idle.delete(child)
    child.ref()
    child.channel?.ref()
    return child
  }

  #start(): ChildProcess {
    const child = fork(PROGRAM, [], {
      serialization: 'advanced',
      // The decoder meets files of strangers: it gets no secret, and what it prints may quote them.
      env: { MALLOC_ARENA_MAX: '2' },
      execArgv: ['--max-old-space-size=64'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // Without a listener an error would end our own process; `exit` follows, or did before.
    child.on('error', () => this.#end(child))
    child.once('exit', () => this.#end(child))
    this.#all.add(child)
    return child
  }

  /** An idle process does not keep ours alive. */
  #keep(child: ChildProcess): void {
    if (!this.#all.has(child)) return
    child.unref()
    child.channel?.unref()
    this.#idle.set(child, setTimeout(() => this.#end(child), IDLE_MS).unref())
  }

  #end(child: ChildProcess): void {
    clearTimeout(this.#idle.get(child))
    this.#idle.delete(child)
    this.#all.delete(child)
    child.kill('SIGKILL')
  }
}

/** Sends a job and awaits its reply, the end of the process, the signal or the last bound. */
async function exchange(
  child: ChildProcess,
  job: ImageJob,
  signal?: AbortSignal,
): Promise<ImageReply> {
  const { promise, resolve, reject } = Promise.withResolvers<ImageReply>()
  const onExit = (_code: number | null, by: string | null) => {
    const cause = new Error(`the image process ended by ${by ?? 'itself'}`)
    reject(CRASHES.includes(by) ? damaged(cause) : unavailable(cause))
  }
  const onError = (error: Error) => reject(unavailable(error))
  const onAbort = () => reject(signal?.reason)
  const timer = setTimeout(() => reject(tooCostly()), job.wallMs)
  child.once('message', resolve)
  child.once('exit', onExit)
  child.once('error', onError)
  signal?.addEventListener('abort', onAbort)
  child.send(job, (error) => error && reject(unavailable(error)))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    child.off('message', resolve)
    child.off('exit', onExit)
    child.off('error', onError)
    signal?.removeEventListener('abort', onAbort)
  }
}

const unavailable = (cause: Error) => new ApiError('service_unavailable', { cause, kind: 'outage' })
