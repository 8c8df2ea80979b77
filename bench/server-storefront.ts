import { createServer } from 'node:http'
import { pino } from 'pino'
import { createStorefront } from '../storefront/server.ts'
import { report } from './load.ts'

/** The storefront alone, for a platform that another process runs. */
const [platformUrl = '', token = ''] = process.argv.slice(2)
const storefront = createStorefront({
  platformUrl: () => platformUrl,
  token,
  zone: 'localhost',
  secure: false,
  assetBaseUrl: null,
  ipOf: () => null,
  log: pino({ level: 'silent' }),
})
const server = createServer(storefront.listener)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  report(`http://127.0.0.1:${address.port}`)
})
