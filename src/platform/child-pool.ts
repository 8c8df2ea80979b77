import { type ChildProcess, fork } from 'node:child_process'
import { ApiError } from '../errors.ts'

/** The resources that one job may use. A job that uses more ends with its process. */
export interface ChildBounds {
  /** CPU time, in milliseconds. */
  cpuMs: number
  /** The memory of the process, in mebibytes. */
  memoryMb: number
  /** Elapsed time, in milliseconds: the last bound, on a machine without any CPU to spare. */
  wallMs: number
}

/** The message to a process: a job and its bounds. */
export type ChildRequest<Job> = { job: Job } & ChildBounds

/** The reply of a process, with the CPU time that the job took. After `too_costly` the process ends itself. */
export type ChildReply<Reply> =
  | { kind: 'done'; reply: Reply; cpuMs: number }
  | { kind: 'too_costly'; cpuMs: number }

export interface JobOptions {
  /** Ends the job with its process when it is aborted. */
  signal?: AbortSignal | undefined
  /** Called once with the CPU time of the job, however the job ended. */
  onUsed?: (cpuMs: number) => void
}

export interface ChildPoolOptions {
  /** The program of the processes: a file that calls `serveJobs` of child-program.ts. */
  program: string
  bounds: ChildBounds
  execArgv?: readonly string[]
  /** The error of a job that exceeds its bounds. */
  tooCostly: () => Error
  /** The error of a job whose process crashed. */
  crashed: (cause: Error) => Error
}

/** How long an idle process is kept. It takes 70 MB, and a new one takes a fifth of a second to start. */
const IDLE_MS = 30_000

/** The signals of a process that failed on its job. Any other signal came from outside. */
const CRASHES: readonly (string | null)[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE']

/**
 * Processes that do one job at a time, started when first needed and ended after some rest. The code
 * that sends jobs bounds how many there are, with a `WorkQueue` (decision 0028).
 */
export class ChildPool<Job, Reply> {
  readonly #options: ChildPoolOptions
  readonly #all = new Set<ChildProcess>()
  readonly #idle = new Map<ChildProcess, NodeJS.Timeout>()

  constructor(options: ChildPoolOptions) {
    this.#options = options
  }

  /** Runs a job in a process that is ended when the signal is aborted, and when the job exceeds its bounds. */
  async perform(job: Job, { signal, onUsed }: JobOptions = {}): Promise<Reply> {
    signal?.throwIfAborted()
    const child = this.#take()
    const begun = performance.now()
    // A process that is ended reports nothing more: its job is counted as if it had run all the time.
    let cpuMs: number | null = null
    try {
      const answer = await this.#exchange(child, job, signal)
      cpuMs = answer.cpuMs
      if (answer.kind === 'too_costly') throw this.#options.tooCostly()
      this.#keep(child)
      return answer.reply
    } finally {
      // A process that did not reply is still working, or has ended.
      if (!this.#idle.has(child)) this.#end(child)
      onUsed?.(cpuMs ?? performance.now() - begun)
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
    const { program, execArgv = [] } = this.#options
    const child = fork(program, [], {
      serialization: 'advanced',
      // The process handles data of strangers: it gets no secret, and its output, which may quote the data, is
      // ignored.
      env: { MALLOC_ARENA_MAX: '2' },
      execArgv: [...execArgv],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // Without a listener an error would end our own process; `exit` follows, or came before.
    child.on('error', () => this.#end(child))
    child.once('exit', () => this.#end(child))
    this.#all.add(child)
    return child
  }

  /** Keeps a process for the next job. An idle process does not keep our own running. */
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

  /** Sends a job and waits for its reply, the end of the process, the signal or the last bound. */
  async #exchange(child: ChildProcess, job: Job, signal?: AbortSignal): Promise<ChildReply<Reply>> {
    const { bounds, tooCostly, crashed } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<ChildReply<Reply>>()
    const onExit = (_code: number | null, by: string | null) => {
      const cause = new Error(`a process for a job ended by ${by ?? 'itself'}`)
      reject(CRASHES.includes(by) ? crashed(cause) : unavailable(cause))
    }
    const onError = (error: Error) => reject(unavailable(error))
    const onAbort = () => reject(signal?.reason)
    const timer = setTimeout(() => reject(tooCostly()), bounds.wallMs)
    child.once('message', resolve)
    child.once('exit', onExit)
    child.once('error', onError)
    signal?.addEventListener('abort', onAbort)
    const request: ChildRequest<Job> = { job, ...bounds }
    child.send(request as object, (error) => error && reject(unavailable(error)))
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
}

const unavailable = (cause: Error) => new ApiError('service_unavailable', { cause, kind: 'outage' })
