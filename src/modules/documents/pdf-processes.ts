import { fileURLToPath } from 'node:url'
import { ApiError } from '../../errors.ts'
import { type ChildBounds, ChildPool } from '../../platform/child-pool.ts'
import type { ChildShares } from '../../platform/child-shares.ts'
import { WorkQueue } from '../../platform/work-queue.ts'
import { DrawnPdfs } from './drawn-pdfs.ts'
import type { PdfJob } from './schema.ts'

export type PdfReply = { kind: 'drawn'; bytes: Buffer } | { kind: 'failed'; message: string }

/** All drawing of PDFs of a process (decision 0035). */
export interface PdfProcesses {
  /** Draws a PDF for a store when it is its turn. The signal ends the wait and the drawing. */
  draw(store: string, job: PdfJob, signal?: AbortSignal): Promise<Buffer>
  close(): Promise<void>
}

/** An invoice of 500 lines takes a second of CPU and 150 MB. */
const BOUNDS: ChildBounds = { cpuMs: 20_000, memoryMb: 640, wallMs: 60_000 }

/** Two at a time. */
const QUEUE = { running: 2, waiting: 1_000 }

/** One drawing of a store at a time: a store that prints a thousand waits for itself, before it waits for a process. */
const TURNS = { running: 1_000, runningPerStore: 1, waiting: 1_000, waitingPerStore: 64 }

const PROGRAM = fileURLToPath(new URL('./pdf-process.ts', import.meta.url))

export interface PdfOptions {
  bounds?: Partial<ChildBounds>
  /** The share of a processor that each store may use. A drawing counts its time, also if it was not finished. */
  shares?: Pick<ChildShares, 'add' | 'turn'>
}

const failed = (cause: Error) => new ApiError('service_unavailable', { cause, kind: 'bug' })

export function createPdfProcesses({ bounds, shares }: PdfOptions = {}): PdfProcesses {
  const turns = new WorkQueue(TURNS)
  const queue = new WorkQueue(QUEUE)
  const drawn = new DrawnPdfs()
  const pool = new ChildPool<PdfJob, PdfReply>({
    program: PROGRAM,
    bounds: { ...BOUNDS, ...bounds },
    execArgv: ['--max-old-space-size=384'],
    tooCostly: () => failed(new Error('a PDF takes too much time or memory to draw')),
    crashed: failed,
  })
  return {
    draw(store, job, signal) {
      const key = drawn.keyOf(store, job)
      const perform = async () => {
        const onUsed = (cpuMs: number) => shares?.add(store, cpuMs)
        const reply = await pool.perform(job, { signal, onUsed })
        if (reply.kind === 'failed') throw failed(new Error(reply.message))
        drawn.keep(key, reply.bytes)
        return reply.bytes
      }
      const inTurn = async () => {
        // The same PDF may have been drawn during the wait.
        const known = drawn.find(key)
        if (known !== null) return known
        // A store that has used its share waits here, where it keeps no process from another store.
        await shares?.turn(store, signal)
        return queue.run(perform, undefined, signal)
      }
      const known = drawn.find(key)
      return known === null ? turns.run(inTurn, store, signal) : Promise.resolve(known)
    },
    async close() {
      const ended = new ApiError('service_unavailable', { kind: 'overload' })
      turns.rejectWaiting(ended)
      queue.rejectWaiting(ended)
      pool.close()
    },
  }
}
