import { createReconciler, type ReconcilerDeps } from '../../platform/reconciler.ts'
import { BUY, resumeBuy } from './buy-label.ts'
import type { LabelDeps } from './service.ts'
import { resumeVoid, VOID } from './void-label.ts'

const reconciler = createReconciler([BUY, VOID])

/** Finishes labels whose process stopped, or whose carrier had not answered. */
export const finishLabels = (
  deps: LabelDeps & Omit<ReconcilerDeps, 'resume'>,
  signal?: AbortSignal,
): Promise<number> =>
  reconciler(
    {
      ...deps,
      resume: (db, claim) =>
        claim.operation === BUY ? resumeBuy(deps, db, claim) : resumeVoid(deps, db, claim),
    },
    signal,
  )
