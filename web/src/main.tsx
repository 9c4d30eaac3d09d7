import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/layout.css';
import './styles/lists.css';
import './styles/people.css';
// biome-ignore lint/correctness/noUnresolvedImports: it is there, among what Biome does not read of react's types
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { noticeOfLeaving } from './idle/idle-watch.ts';
import { restoreSession } from './session/session.ts';

const root = document.getElementById('root');
if (root) {
  const restored = await restoreSession();
  createRoot(root).render(
    <StrictMode>
      <App restored={restored} told={noticeOfLeaving()} />
    </StrictMode>,
  );
}
