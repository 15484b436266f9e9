package io.carillon.bench.child;

import io.carillon.bench.http.HostileClient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The clients of a project that uses all it can, in a process of their own. */
final class HostileChild implements ChildMain.CommandHandler {
    private @Nullable HostileClient client;

    @Override
    public String handle(String command, List<String> words) {
        if (command.equals("attack")) {
            client = new HostileClient(Integer.parseInt(words.get(0)), words.get(1));
            client.attack(words.get(2));
            return "attacking";
        }
        HostileClient attacking = client;
        if (attacking == null || !command.equals("answers"))
            throw new IllegalArgumentException("The commands are attack, then answers (was %s).".formatted(command));
        return attacking.answers();
    }

    @Override
    public void close() {
        if (client != null) client.close();
    }
}
