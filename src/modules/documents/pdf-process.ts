import sharp from 'sharp'
import { serveJobs } from '../../platform/child-program.ts'
import { drawLabel } from './draw-label.ts'
import { drawSheet } from './draw-sheet.ts'
import type { PdfReply } from './pdf-processes.ts'
import type { PdfJob } from './schema.ts'

/**
 * The program of a PDF process: draws one document at a time. Each takes a tenth of a second of CPU, in which
 * the server could answer no other request.
 */

sharp.cache(false)
sharp.concurrency(1)

/** Does a job. A document that cannot be drawn gets a reply, too, and the next one may be drawn. */
async function perform(job: PdfJob): Promise<PdfReply> {
  try {
    const bytes =
      job.kind === 'sheet' ? await drawSheet(job.sheet, job.logo) : await drawLabel(job.label)
    return { kind: 'drawn', bytes }
  } catch (error) {
    return {
      kind: 'failed',
      message: error instanceof Error ? String(error.stack) : 'not an Error',
    }
  }
}

serveJobs(perform)
