package io.carillon.cli.dev;

import io.carillon.cli.screen.Look;
import io.carillon.cli.screen.Screen;
import io.carillon.cli.screen.Size;
import io.carillon.cli.screen.Terminal;
import java.io.IOException;
import java.time.ZoneId;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Draws a picture four times a second, follows the size of the terminal, and listens for the key that stops. */
final class LiveLoop implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LiveLoop.class);
    private static final long PAUSE_MILLIS = 250;
    /** Asking for the size starts a small program. */
    private static final int FRAMES_PER_SIZE = 4;

    private final Terminal terminal;
    private final Look look;
    private final Supplier<Picture> pictures;
    private final Runnable stop;
    private final Screen screen;
    private final CountDownLatch over = new CountDownLatch(1);

    private LiveLoop(Terminal terminal, Look look, Supplier<Picture> pictures, Runnable stop) throws IOException {
        this.terminal = terminal;
        this.look = look;
        this.pictures = pictures;
        this.stop = stop;
        this.screen = terminal.open(look);
    }

    /** Takes the terminal over; {@link #close()} gives it back. */
    static LiveLoop start(Terminal terminal, Look look, Supplier<Picture> pictures, Runnable stop) throws IOException {
        LiveLoop loop = new LiveLoop(terminal, look, pictures, stop);
        loop.spawn(loop::paint, "carillon-dev-view");
        loop.spawn(loop::keys, "carillon-dev-keys");
        return loop;
    }

    private void spawn(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void paint() {
        try {
            Size size = terminal.size();
            for (int frame = 1; !over.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS); frame++) {
                if (frame % FRAMES_PER_SIZE == 0) size = terminal.size();
                draw(size);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A frame that fails must not end the view. */
    private void draw(Size size) {
        try {
            screen.draw(LiveView.draw(pictures.get(), size, look, ZoneId.systemDefault()));
        } catch (IOException | RuntimeException e) {
            log.info("a frame of the view failed", e);
        }
    }

    private void keys() {
        try {
            for (int key = System.in.read(); key >= 0; key = System.in.read()) if (key == 'q' || key == 'Q') stop.run();
        } catch (IOException e) {
            log.debug("no more keys", e);
        }
    }

    @Override
    public void close() {
        over.countDown();
        screen.close();
    }
}
