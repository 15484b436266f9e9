package io.carillon.cli.dev;

import io.carillon.cli.screen.RenderOptions;
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

/** Draws a frame four times a second, follows the size of the terminal, and stops the node when the user presses q. */
final class LiveLoop implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LiveLoop.class);
    private static final long FRAME_MILLIS = 250;
    /** Reading the size starts an external program, so it is not read for every frame. */
    private static final int FRAMES_PER_SIZE = 4;

    private final Terminal terminal;
    private final RenderOptions renderOptions;
    private final Supplier<LiveSnapshot> snapshots;
    private final Runnable stop;
    private final Screen screen;
    private final CountDownLatch closed = new CountDownLatch(1);

    private LiveLoop(Terminal terminal, RenderOptions renderOptions, Supplier<LiveSnapshot> snapshots, Runnable stop)
            throws IOException {
        this.terminal = terminal;
        this.renderOptions = renderOptions;
        this.snapshots = snapshots;
        this.stop = stop;
        this.screen = terminal.open(renderOptions);
    }

    /** Takes over the terminal; {@link #close()} restores it. */
    static LiveLoop start(
            Terminal terminal, RenderOptions renderOptions, Supplier<LiveSnapshot> snapshots, Runnable stop)
            throws IOException {
        LiveLoop loop = new LiveLoop(terminal, renderOptions, snapshots, stop);
        loop.startThread(loop::drawFrames, "carillon-dev-view");
        loop.startThread(loop::readKeys, "carillon-dev-keys");
        return loop;
    }

    private void startThread(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void drawFrames() {
        try {
            Size size = terminal.size();
            for (int frame = 1; !closed.await(FRAME_MILLIS, TimeUnit.MILLISECONDS); frame++) {
                if (frame % FRAMES_PER_SIZE == 0) size = terminal.size();
                draw(size);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Draws one frame. A failure must not end the view. */
    private void draw(Size size) {
        try {
            screen.draw(LiveView.draw(snapshots.get(), size, renderOptions, ZoneId.systemDefault()));
        } catch (IOException | RuntimeException e) {
            log.info("could not draw the live view", e);
        }
    }

    private void readKeys() {
        try {
            for (int key = System.in.read(); key >= 0; key = System.in.read()) if (key == 'q' || key == 'Q') stop.run();
        } catch (IOException e) {
            log.debug("could not read keys", e);
        }
    }

    @Override
    public void close() {
        closed.countDown();
        screen.close();
    }
}
