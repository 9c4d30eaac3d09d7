/** Of a command that is asked for `--help` or `-h`: prints how it is used, and ends well, whatever else was said. */
export function answerHelp(usage: string): void {
  if (!process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')) return;
  process.stdout.write(usage);
  process.exit(0);
}
