import packageJson from '../package.json' with { type: 'json' };

export const help = `portico-mllp: HL7 v2 over MLLP for a Portico service

Receive: every message runs a Bot, and is acknowledged when that has answered.
  portico-mllp --listen [host:]port --service https://… --client-id <id> --bot <id or system|value>
  portico-mllp --config <file> [--check]

  --client-secret-file <file>   else the environment's PORTICO_CLIENT_SECRET
  --allow <address or network>  who may connect; again for each, or separated by commas
  --tls-cert, --tls-key <file>  TLS; with --tls-ca <file> senders must show a certificate of it
  --acknowledge original        one acknowledgement, whatever MSH-15 and MSH-16 say
  --timeout <seconds>           from a message to its acknowledgement (30)
  --idle-timeout <seconds>      a connection without messages is closed (3600)
  --max-connections <number>    (256)
  --concurrency <number>        requests to the service at once (16)
  --peer-share <percent>        of connections and requests for one peer (75)
  --health-port <port>          /healthz and /metrics on 127.0.0.1
  --check                       try settings, certificates and sign-in, then end

Send: files or standard input, one message after the other, each until it is accepted.
  portico-mllp --send host:port [file…]

  --tls, --tls-ca, --tls-cert, --tls-key   TLS to the receiver
  --timeout <seconds>                      for each acknowledgement (30)
  --attempts <number>                      for each message (5)

Ends with 0 when all is well, 1 when something was not accepted or failed, 2 for wrong arguments.
`;

export const { version } = packageJson;
