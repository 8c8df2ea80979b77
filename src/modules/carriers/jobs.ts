import type { DueWork } from '../../platform/due-work.ts'
import { createReconciler, dueOperations, type ReconcilerDeps } from '../../platform/reconciler.ts'
import { BUY, resumeBuy } from './buy-label.ts'
import type { LabelDeps } from './service.ts'
import { resumeVoid, VOID } from './void-label.ts'

const OPERATIONS = [BUY, VOID]
const reconciler = createReconciler(OPERATIONS)

type JobDeps = LabelDeps & Omit<ReconcilerDeps, 'resume'>

const withResume = (deps: JobDeps): ReconcilerDeps => ({
  ...deps,
  resume: (db, claim) =>
    claim.operation === BUY ? resumeBuy(deps, db, claim) : resumeVoid(deps, db, claim),
})

/** Finishes labels whose process stopped, or whose carrier had not answered. */
export const finishLabels = (deps: JobDeps, signal?: AbortSignal): Promise<number> =>
  reconciler(withResume(deps), signal)

export const dueLabels = (deps: JobDeps): DueWork =>
  dueOperations('label', OPERATIONS, withResume(deps))
