import type { House } from '../house.ts'

/** Opens the deps to finish labels that were interrupted. */
export const openLabels = ({ workerDatabase: database, carriers, logger }: House) => ({
  carriers,
  database,
  onAlert: (alert: Record<string, unknown>, message: string) => logger.error(alert, message),
})
