import { fileURLToPath } from 'node:url'
import { ApiError } from '../../errors.ts'
import { type ChildBounds, ChildPool } from '../../platform/child-pool.ts'
import { WorkQueue } from '../../platform/work-queue.ts'
import type { LabelSheet, Sheet } from './schema.ts'

export type PdfJob =
  | { kind: 'sheet'; sheet: Sheet; logo: Buffer | null }
  | { kind: 'label'; label: LabelSheet }

export type PdfReply = { kind: 'drawn'; bytes: Buffer } | { kind: 'failed'; message: string }

/** All drawing of PDFs of a process. */
export interface PdfProcesses {
  /** Draws a PDF for a store when it is its turn. The signal ends the wait and the drawing. */
  draw(store: string, job: PdfJob, signal?: AbortSignal): Promise<Buffer>
  close(): Promise<void>
}

/** An invoice of 500 lines takes a second of CPU and 150 MB. */
const BOUNDS: ChildBounds = { cpuMs: 20_000, memoryMb: 640, wallMs: 60_000 }

/** Two at a time, of two stores: a store that prints a thousand waits for itself. */
const QUEUE = { running: 2, runningPerStore: 1, waiting: 1_000, waitingPerStore: 64 }

const PROGRAM = fileURLToPath(new URL('./pdf-process.ts', import.meta.url))

export interface PdfOptions {
  bounds?: Partial<ChildBounds>
  /** Called with the processor time that a drawing took, also where it was not finished. */
  onDrawn?: (store: string, cpuMs: number) => void
}

const failed = (cause: Error) => new ApiError('service_unavailable', { cause, kind: 'bug' })

export function createPdfProcesses({ bounds, onDrawn }: PdfOptions = {}): PdfProcesses {
  const queue = new WorkQueue(QUEUE)
  const pool = new ChildPool<PdfJob, PdfReply>({
    program: PROGRAM,
    bounds: { ...BOUNDS, ...bounds },
    execArgv: ['--max-old-space-size=384'],
    tooCostly: () => failed(new Error('a PDF takes too much time or memory to draw')),
    crashed: failed,
  })
  return {
    draw: (store, job, signal) =>
      queue.run(
        async () => {
          const onUsed = (cpuMs: number) => onDrawn?.(store, cpuMs)
          const reply = await pool.perform(job, { signal, onUsed })
          if (reply.kind === 'failed') throw failed(new Error(reply.message))
          return reply.bytes
        },
        store,
        signal,
      ),
    async close() {
      queue.rejectWaiting(new ApiError('service_unavailable', { kind: 'overload' }))
      pool.close()
    },
  }
}
