import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { PasswordField } from '../ui/password-field.tsx';

export function PasswordCard() {
  const { send } = useApi();
  const [oldPassword, setOld] = useState('');
  const [newPassword, setNew] = useState('');
  const [isDone, setDone] = useState(false);
  const change = useAction(async () => {
    setDone(false);
    await send('POST', 'auth/changepassword', { oldPassword, newPassword });
    setOld('');
    setNew('');
    setDone(true);
  }, ['oldPassword', 'newPassword']);
  return (
    <section className="card narrow" aria-labelledby="password">
      <h2 id="password">Password</h2>
      <Form label="Password" fieldErrors={change.fieldErrors} onSubmit={() => change.run()}>
        <Failure message={change.message} />
        {isDone && <Notice kind="good">Changed. You are signed out everywhere else.</Notice>}
        <PasswordField
          label="Old password"
          name="oldPassword"
          autoComplete="current-password"
          value={oldPassword}
          onChange={setOld}
          isRequired
        />
        <PasswordField
          label="New password"
          name="newPassword"
          help="At least 8 characters. A few words make a good one."
          autoComplete="new-password"
          minLength={8}
          value={newPassword}
          onChange={setNew}
          isRequired
        />
        <div>
          <Button type="submit" kind="primary" isPending={change.isBusy}>
            Change the password
          </Button>
        </div>
      </Form>
    </section>
  );
}
