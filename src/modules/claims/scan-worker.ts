import { parentPort } from 'node:worker_threads'
import { scanDocument } from './scan.ts'

/** One document in, one result out. Whatever it throws, the scanner hears as an error. */
parentPort?.on('message', ({ id, value }: { id: number; value: unknown }) => {
  parentPort?.postMessage({ id, result: scanDocument(value) })
})
parentPort?.postMessage('ready')
