import { Type } from 'typebox'
import { machineTime, type Runner, sql } from '../../db/sql.ts'

/** Calls of one key on one day, as a process has counted them. */
export interface CountedCalls {
  tenant: string
  credentialId: string
  day: string
  calls: number
}

interface Batch {
  /** Names the process. */
  writer: string
  /** Counts the batches of the process. */
  sequence: number
  counts: readonly CountedCalls[]
}

/** Adds the calls of all stores by one statement. A batch that was added before is not added again. */
export const addCalls = (db: Runner, { writer, sequence, counts }: Batch) =>
  db.one(
    Type.Object({ added: Type.Integer() }),
    sql`
    select fd_add_api_calls(${writer}::uuid, ${sequence}::bigint,
                            ${counts.map(({ tenant }) => tenant)}::text[],
                            ${counts.map(({ credentialId }) => credentialId)}::uuid[],
                            ${counts.map(({ day }) => day)}::date[],
                            ${counts.map(({ calls }) => calls)}::bigint[]) as added`,
  )

/** Deletes the rows of processes that have stopped. No process sends a batch again after a week. */
export const deleteIdleWriters = (worker: Runner) =>
  worker.run(sql`
    delete from api_call_writers where written_at < ${machineTime} - interval '7 days'`)
