package io.carillon.cli.config;

import io.carillon.cli.shell.DataHome;
import io.carillon.cli.shell.UsageException;
import io.carillon.value.Nearest;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** A file of {@code key = value} lines. What is not known, or stands there twice, is refused with its line. */
record ConfigFile(String name, Map<Setting, String> values) {
    ConfigFile {
        values = Map.copyOf(values);
    }

    static ConfigFile none() {
        return new ConfigFile("", Map.of());
    }

    static ConfigFile read(String name) {
        try {
            return parse(name, Files.readAllLines(DataHome.absolute("The configuration", name)));
        } catch (NoSuchFileException missing) {
            throw new UsageException("There is no configuration %s. Name one that is there.".formatted(name), missing);
        } catch (MalformedInputException odd) {
            throw new UsageException("The configuration %s is not UTF-8.".formatted(name), odd);
        } catch (IOException unreadable) {
            throw new UsageException(
                    "The configuration %s cannot be read: %s.".formatted(name, unreadable), unreadable);
        }
    }

    static ConfigFile parse(String name, List<String> lines) {
        Map<Setting, String> values = new EnumMap<>(Setting.class);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) continue;
            String where = name + ":" + (i + 1);
            int equals = line.indexOf('=');
            if (equals < 1) throw new UsageException("%s: write 'key = value', or # before it.".formatted(where));
            String key = line.substring(0, equals).strip();
            Setting setting = Setting.of(key)
                    .orElseThrow(() -> new UsageException("%s: there is no setting '%s'.%s Known: %s."
                            .formatted(
                                    where, key, Nearest.hint(key, Setting.keys()), String.join(", ", Setting.keys()))));
            if (values.put(setting, line.substring(equals + 1).strip()) != null)
                throw new UsageException("%s: '%s' stands there twice. Remove one.".formatted(where, key));
        }
        return new ConfigFile(name, values);
    }
}
