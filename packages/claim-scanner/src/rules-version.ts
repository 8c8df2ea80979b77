/**
 * Identifies the rules that a text was scanned by. It is written down here and not computed at the start, so that a
 * process that scans nothing never loads the rules: they take a hundredth of a second and three megabytes. A test
 * compares it with `hashRules()` (decision 0072).
 */
export const RULES_VERSION = 'e1ce5bab80f2ca79'
