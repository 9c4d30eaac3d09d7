import { Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useLocation } from 'wouter';
import { Button } from '../ui/button.tsx';
import { Link } from '../ui/link.tsx';
import { topicOf } from './topics.ts';

/** Says what the page is about; nothing where there is nothing to say. */
export function WhatIsThis() {
  const [path] = useLocation();
  const topic = topicOf(path);
  if (!topic) return null;
  return (
    <DialogTrigger>
      <Button kind="quiet">What is this?</Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog">
            {({ close }) => (
              <>
                <Heading slot="title">{topic.title}</Heading>
                {topic.paragraphs.map((text) => (
                  <p key={text}>{text}</p>
                ))}
                <div className="buttons">
                  {topic.more && (
                    <Link href={topic.more.href} onPress={close}>
                      {topic.more.label}
                    </Link>
                  )}
                  <Button onPress={close}>Close</Button>
                </div>
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
