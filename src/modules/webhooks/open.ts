import type { House } from '../house.ts'

/** Opens the deps to send deliveries, for the loop and the test clock. */
export const openDispatch = ({ workerDatabase, safeFetch, key, config, logger }: House) => ({
  database: workerDatabase,
  fetch: safeFetch,
  key: key('webhook secret'),
  ladder: config.WEBHOOK_RETRY_LADDER,
  logger,
})
