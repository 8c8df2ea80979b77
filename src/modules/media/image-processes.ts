import { fileURLToPath } from 'node:url'
import { ApiError } from '../../errors.ts'
import { type ChildBounds, ChildPool } from '../../platform/child-pool.ts'
import { WorkQueue } from '../../platform/work-queue.ts'
import { refuse } from './errors.ts'
import { damaged } from './images/parsed-image.ts'
import type { Raster } from './schema.ts'

/** A task for an image process. */
export type ImageTask =
  /** Decodes all of it, so that a stored image is one that can be shown. */
  | { kind: 'verify' }
  /** Encodes it again, upright and in sRGB. The encoder adds no metadata. */
  | { kind: 'reencode'; contentType: Raster; orientation: number }
  /** Makes a smaller copy. */
  | { kind: 'resize'; contentType: Raster; width: number }

export interface ImageInput {
  bytes: Buffer
  animated: boolean
  task: ImageTask
}

export interface ImageResult {
  /** Null if the image was only verified. */
  bytes: Buffer | null
  width: number
  height: number
}

/** The reply of an image process. */
export type ImageReply = ({ kind: 'done' } & ImageResult) | { kind: 'damaged'; message: string }

/** Runs a job in an image process. Throws `image_invalid` if the image is at fault. */
export type PerformImageJob = (input: ImageInput) => Promise<ImageResult>

/** Runs all work on images of this process. */
export interface ImageProcesses {
  /**
   * Runs work of a store when its turn comes. Its jobs run in a process that is ended when the signal is aborted,
   * and when a job exceeds its bounds.
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
 * process-image.ts (decision 0028).
 */
const BOUNDS: ChildBounds = { cpuMs: 20_000, memoryMb: 640, wallMs: 120_000 }

/**
 * The bounds of the queue: two images at a time, of two stores, so that a store whose images take long delays only
 * itself. Each image can be 20 MB before it is decoded.
 */
const QUEUE = { running: 2, runningPerStore: 1, waiting: 1_000, waitingPerStore: 64 }

const PROGRAM = fileURLToPath(new URL('./image-process.ts', import.meta.url))

const tooCostly = () =>
  refuse('image_invalid', {
    message: 'The image takes too much time or memory to process. Upload a smaller or simpler one.',
  })

export function createImageProcesses(bounds: Partial<ChildBounds> = {}): ImageProcesses {
  const queue = new WorkQueue(QUEUE)
  const pool = new ChildPool<ImageInput, ImageReply>({
    program: PROGRAM,
    bounds: { ...BOUNDS, ...bounds },
    execArgv: ['--max-old-space-size=64'],
    tooCostly,
    crashed: damaged,
  })
  const perform = async (input: ImageInput, signal?: AbortSignal): Promise<ImageResult> => {
    const reply = await pool.perform(input, { signal })
    if (reply.kind === 'damaged') throw damaged(new Error(reply.message))
    return reply
  }
  return {
    run: (store, work, signal) =>
      queue.run(() => work((input) => perform(input, signal)), store, signal),
    waitingOf: (store) => queue.waitingOf(store),
    async close() {
      queue.rejectWaiting(new ApiError('service_unavailable', { kind: 'overload' }))
      pool.close()
    },
  }
}
