import { parentPort } from 'node:worker_threads'
import { LANGUAGES } from './languages/all.ts'
import { PHRASES } from './rules.ts'
import { scanDocument } from './scan.ts'

/**
 * Scans the phrases of the rules a few times, so that the code is compiled before the first
 * document comes. Otherwise the first documents take three times as long and may miss their
 * deadline.
 */
function warmUp() {
  const texts = Object.values(PHRASES).map((text) => `<p>${text}</p> &amp; ünlike ${text}`)
  for (let round = 0; round < 6; round += 1) scanDocument(texts)
  // The words of the other scripts are read by code of their own.
  scanDocument(LANGUAGES.map(({ words }) => Object.values(words).join(' ')))
}

/** Sends one result for each document. The scanner receives anything thrown here as an error. */
parentPort?.on('message', ({ id, value }: { id: number; value: unknown }) => {
  parentPort?.postMessage({ id, result: scanDocument(value) })
})
warmUp()
parentPort?.postMessage('ready')
