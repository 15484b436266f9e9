package io.carillon.cli.config;

import io.carillon.cli.shell.DataDirectory;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.UsageException;
import io.carillon.internal.value.PrivateFiles;
import io.carillon.internal.value.SpellingSuggester;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A configuration file of {@code key = value} lines. Unknown and duplicate keys are rejected with their line number.
 */
record ConfigFile(String name, Map<Setting, String> values) {
    ConfigFile {
        values = Map.copyOf(values);
    }

    static ConfigFile none() {
        return new ConfigFile("", Map.of());
    }

    static ConfigFile read(String name) {
        try {
            Path path = DataDirectory.absolutePath("The configuration file", name);
            ConfigFile file = parse(name, Files.readAllLines(path));
            if (PrivateFiles.isOpenToOthers(path)) file.refuseSecrets();
            return file;
        } catch (NoSuchFileException missing) {
            throw new UsageException("Configuration file %s does not exist.".formatted(name), missing);
        } catch (MalformedInputException odd) {
            throw new UsageException("Configuration file %s is not encoded in UTF-8.".formatted(name), odd);
        } catch (IOException unreadable) {
            throw new UsageException(
                    "Configuration file %s cannot be read: %s.".formatted(name, unreadable), unreadable);
        }
    }

    /** Rejects secrets in a file that other users can access. The file may name files that contain them. */
    private void refuseSecrets() {
        for (Map.Entry<Setting, String> line : values.entrySet())
            if (line.getKey().isSecret()
                    && (line.getKey() != Setting.DATABASE_URL
                            || DatabaseUrl.parse(line.getValue()).hasPassword()))
                throw new UsageException(
                        ("Configuration file %s contains the secret %s, and other users can access it. Run 'chmod 600 "
                                        + "%s', and change the secret if another user may have read it.")
                                .formatted(name, line.getKey().key(), name));
    }

    static ConfigFile parse(String name, List<String> lines) {
        Map<Setting, String> values = new EnumMap<>(Setting.class);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) continue;
            String where = name + ":" + (i + 1);
            int equals = line.indexOf('=');
            if (equals < 1)
                throw new UsageException(
                        "%s: the line must be 'key = value' or a comment that starts with #.".formatted(where));
            String key = line.substring(0, equals).strip();
            Setting setting = Setting.byKey(key)
                    .orElseThrow(() -> new UsageException("%s: unknown setting '%s'.%s Known settings: %s."
                            .formatted(
                                    where,
                                    key,
                                    SpellingSuggester.didYouMean(key, Setting.keys()),
                                    String.join(", ", Setting.keys()))));
            if (values.put(setting, line.substring(equals + 1).strip()) != null)
                throw new UsageException("%s: duplicate setting '%s'. Remove one of the lines.".formatted(where, key));
        }
        return new ConfigFile(name, values);
    }
}
