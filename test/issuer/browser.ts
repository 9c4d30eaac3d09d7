/** A browser as far as sign-in needs one: it keeps cookies by host and follows redirects. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  async get(url: string): Promise<Response> {
    const { host } = new URL(url);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...this.#of(host)].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    this.keep(host, response);
    return response;
  }

  keep(host: string, response: { headers: Headers }): void {
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) this.#of(host).delete(name);
      else this.#of(host).set(name, value);
    }
  }

  /** Follows redirects until one leads to `until`, which is answered and not opened. */
  async follow(start: string, until: string, { leaving = '' } = {}): Promise<URL> {
    let url = start;
    for (let hops = 0; hops < 20; hops++) {
      if (url.startsWith(until) && url !== leaving) return new URL(url);
      const response = await this.get(url);
      const location = response.headers.get('location');
      if (!location) throw new Error(`${response.status} at ${url}: ${await response.text()}`);
      url = new URL(location, url).href;
    }
    throw new Error('Too many redirects');
  }

  #of(host: string): Map<string, string> {
    const cookies = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, cookies);
    return cookies;
  }
}
